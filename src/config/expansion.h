#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "walpost/config/load.h"

namespace walpost::config {

/// A value after `${...}` was replaced.
struct Expansion {
  std::string text;
  bool from_file = false;             ///< some of it came out of a file: a secret
  std::vector<std::string> problems;  ///< one sentence each, without any value
};

/// Replaces `${VAR}`, `${VAR:-default}` (also for an empty variable), `${file:/path}` (without one
/// trailing newline) and `$$` (a literal `$`). Any other `$` stays.
[[nodiscard]] Expansion expand(std::string_view text, const Environment& environment);

}  // namespace walpost::config
