#pragma once

#include <string>
#include <vector>

#include "walpost/relay/finding.h"

namespace walpost::cli {

/// One aligned line a finding, with what mends it indented below. Ends in a newline unless empty.
[[nodiscard]] std::string findings_table(const std::vector<relay::Finding>& findings);

}  // namespace walpost::cli
