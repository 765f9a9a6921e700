// scripts/simulate runs this: many seeds, or one with its story.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>
#include <vector>

#include "simulation/simulation.h"

namespace {

using walpost::simulation::simulate;
using walpost::simulation::Verdict;

struct Total {
  std::size_t events = 0;
  std::size_t duplicates = 0;
  std::size_t faults = 0;
  std::size_t restarts = 0;
  std::vector<Verdict> failed;
};

// Seeds first, first + stride, ...: each thread its own worlds, nothing shared.
Total run(std::uint64_t first, std::uint64_t end, std::uint64_t stride) {
  Total total;
  for (std::uint64_t seed = first; seed < end && total.failed.size() < 3; seed += stride) {
    Verdict verdict = simulate(seed);
    total.events += verdict.events;
    total.duplicates += verdict.duplicates;
    total.faults += verdict.faults;
    total.restarts += verdict.restarts;
    if (!verdict.violations.empty()) total.failed.push_back(std::move(verdict));
  }
  return total;
}

int tell(std::uint64_t seed) {
  const Verdict verdict = simulate(seed, true);
  for (const auto& line : verdict.story) std::printf("%s\n", line.c_str());
  std::printf("seed %llu: %zu events, %zu faults, %zu restarts, %zu duplicates, %zu violations\n",
              static_cast<unsigned long long>(seed), verdict.events, verdict.faults,
              verdict.restarts, verdict.duplicates, verdict.violations.size());
  return verdict.violations.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the real relay in simulated worlds of faults.");
  std::uint64_t seed = 1;
  std::uint64_t seeds = 100000;
  bool story = false;
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--seeds", seeds, "how many seeds, one after the other");
  app.add_flag("--story", story, "tell what happens in the first seed, line by line");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::off);
  if (story) return tell(seed);

  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Total> totals(cores);
  std::vector<std::thread> threads;
  for (unsigned core = 0; core < cores; ++core)
    threads.emplace_back([&, core] { totals[core] = run(seed + core, seed + seeds, cores); });
  Total sum;
  for (unsigned core = 0; core < cores; ++core) {
    threads[core].join();
    sum.events += totals[core].events;
    sum.duplicates += totals[core].duplicates;
    sum.faults += totals[core].faults;
    sum.restarts += totals[core].restarts;
    for (auto& verdict : totals[core].failed) sum.failed.push_back(std::move(verdict));
  }
  for (const Verdict& verdict : sum.failed) {
    std::printf("seed %llu failed: %s\n", static_cast<unsigned long long>(verdict.seed),
                verdict.violations.front().c_str());
    std::printf("  replay: scripts/simulate --seed %llu --story\n",
                static_cast<unsigned long long>(verdict.seed));
  }
  std::printf(
      "%llu seeds: %zu events, %zu faults, %zu restarts, %zu duplicates, %zu seeds failed\n",
      static_cast<unsigned long long>(seeds), sum.events, sum.faults, sum.restarts, sum.duplicates,
      sum.failed.size());
  return sum.failed.empty() ? 0 : 1;
}
