#include "bench/results.h"

#include <algorithm>
#include <iterator>

namespace walpost::bench {

std::vector<Run> runs_of(const DrainCase& drains, const std::string& tool) {
  std::vector<Run> runs;
  std::copy_if(drains.runs.begin(), drains.runs.end(), std::back_inserter(runs),
               [&](const Run& run) { return run.tool == tool; });
  return runs;
}

std::vector<double> ratios(const DrainCase& drains, const std::string& tool) {
  const std::vector<Run> base = runs_of(drains, drains.tools.at(0));
  const std::vector<Run> runs = runs_of(drains, tool);
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < std::min(base.size(), runs.size()); ++pair)
    ratios.push_back(base[pair].seconds / runs[pair].seconds);
  return ratios;
}

}  // namespace walpost::bench
