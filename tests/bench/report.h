#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/results.h"

namespace walpost::bench {

/// For people: the machine, one table a suite, what was skipped.
[[nodiscard]] std::string report(const Results& results);

/// For programs: every run, and what the tables say.
[[nodiscard]] nlohmann::json to_json(const Results& results);

}  // namespace walpost::bench
