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

namespace {

/// Of each run of the tool and the run of the first tool beside it.
std::vector<double> paired(const DrainCase& drains, const std::string& tool,
                           double (*compare)(const Run& first, const Run& run)) {
  const std::vector<Run> base = runs_of(drains, drains.tools.at(0));
  const std::vector<Run> runs = runs_of(drains, tool);
  std::vector<double> figures;
  for (std::size_t pair = 0; pair < std::min(base.size(), runs.size()); ++pair)
    figures.push_back(compare(base[pair], runs[pair]));
  return figures;
}

}  // namespace

std::vector<double> ratios(const DrainCase& drains, const std::string& tool) {
  return paired(drains, tool,
                [](const Run& first, const Run& run) { return first.seconds / run.seconds; });
}

std::vector<double> cpu_ratios(const DrainCase& drains, const std::string& tool) {
  return paired(drains, tool, [](const Run& first, const Run& run) {
    return (run.user + run.system) / (first.user + first.system);
  });
}

}  // namespace walpost::bench
