#include "bench/verdict.h"

#include <algorithm>
#include <cmath>

#include "bench/statistics.h"

namespace walpost::bench {
namespace {

/// Of at most `heads` heads in `throws` throws of a fair coin.
double chance_of_at_most(int heads, int throws) {
  double ways = 0;
  double one = 1;  // throws choose k
  for (int k = 0; k <= heads; ++k) {
    ways += one;
    one = one * (throws - k) / (k + 1);
  }
  return std::ldexp(ways, -throws);
}

}  // namespace

Verdict judge(const std::vector<double>& ratios, double least) {
  constexpr double by_chance = 0.02;
  if (median(ratios) >= least) return Verdict::passed;
  const auto reaching =
      std::count_if(ratios.begin(), ratios.end(), [least](double ratio) { return ratio >= least; });
  const double chance =
      chance_of_at_most(static_cast<int>(reaching), static_cast<int>(ratios.size()));
  return chance < by_chance ? Verdict::failed : Verdict::undecided;
}

}  // namespace walpost::bench
