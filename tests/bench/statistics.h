#pragma once

#include <vector>

namespace walpost::bench {

/// What several runs of one thing came to.
struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
};

/// REQUIRES of all three: at least one value. They need not be sorted.
///
/// The middle value; of an even number the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] Spread spread(const std::vector<double>& values);
[[nodiscard]] double mean(const std::vector<double>& values);

/// By nearest rank: the smallest value with at least `percent` % of all at or below it, which is
/// always one that was measured. REQUIRES: `sorted` ascending and not empty, 0 < percent <= 100.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double percent);

}  // namespace walpost::bench
