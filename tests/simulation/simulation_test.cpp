#include "simulation/simulation.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace walpost::simulation {
namespace {

std::string tell(const Verdict& verdict) {
  std::string text = "seed " + std::to_string(verdict.seed) + ":";
  for (const auto& violation : verdict.violations) text += "\n  " + violation;
  text += "\nreplay with: scripts/simulate --seed " + std::to_string(verdict.seed) +
          " --seeds 1 --story";
  return text;
}

std::uint64_t seeds() {
  const char* wanted = std::getenv("WALPOST_SIMULATION_SEEDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 2000;
}

TEST(Simulation, TheSameSeedTellsTheSameStory) {
  spdlog::set_level(spdlog::level::off);
  EXPECT_EQ(simulate(7, true).story, simulate(7, true).story);
  EXPECT_NE(simulate(7, true).story, simulate(8, true).story);
}

// Every seed is a different world of faults; the promise must hold in each.
TEST(Simulation, NothingIsLostOrReorderedOrConfirmedTooEarlyWhateverFails) {
  spdlog::set_level(spdlog::level::off);
  Verdict total;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= seeds() && failed < 5; ++seed) {
    const Verdict verdict = simulate(seed);
    total.events += verdict.events;
    total.duplicates += verdict.duplicates;
    total.faults += verdict.faults;
    total.restarts += verdict.restarts;
    if (verdict.violations.empty()) continue;
    ++failed;
    ADD_FAILURE() << tell(verdict);
  }
  std::printf("%llu seeds: %zu events, %zu faults, %zu restarts, %zu duplicates\n",
              static_cast<unsigned long long>(seeds()), total.events, total.faults, total.restarts,
              total.duplicates);
  EXPECT_GT(total.faults, seeds());
}

}  // namespace
}  // namespace walpost::simulation
