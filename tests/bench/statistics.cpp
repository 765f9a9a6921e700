#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace walpost::bench {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return (values[half - 1] + values[half]) / 2;
}

Spread spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, median(values), *most};
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percentile(const std::vector<double>& sorted, double percent) {
  // 99.9 % of 1000 is 999, not the 1000 that its binary fraction rounds up to.
  constexpr double rounding = 1e-9;
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()) - rounding);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace walpost::bench
