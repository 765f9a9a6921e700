#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace walpost::simulation {

/// What one seed came to.
struct Verdict {
  std::uint64_t seed = 0;
  std::vector<std::string> violations;  ///< of the promise; empty when it held
  std::vector<std::string> story;       ///< what happened, line by line; only when asked for
  std::size_t events = 0;
  std::size_t duplicates = 0;
  std::size_t faults = 0;
  std::size_t restarts = 0;
};

/// Runs the real relay in the world of `seed`. The same seed gives the same verdict.
[[nodiscard]] Verdict simulate(std::uint64_t seed, bool tell_story = false);

}  // namespace walpost::simulation
