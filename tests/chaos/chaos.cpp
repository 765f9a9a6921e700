// Breaks the real parts around walpost, one fault a round, and counts what became of the events.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "chaos/chaos_world.h"

namespace walpost::test {
namespace {

constexpr milliseconds recovery_limit{60000};

int run(int rounds, std::uint64_t seed) {
  using Seconds = std::chrono::duration<double>;
  const auto began = std::chrono::steady_clock::now();
  ChaosWorld world(seed);
  if (!world.catches_up(Deadline::in(recovery_limit))) {
    std::cout << "nothing is published before any fault\n" << world.logs();
    return 1;
  }
  for (int round = 1; round <= rounds; ++round) {
    const auto before = std::chrono::steady_clock::now();
    const std::string fault = world.round();
    if (!world.catches_up(Deadline::in(recovery_limit))) {
      std::cout << "round " << round << ", " << fault << ": no recovery in "
                << recovery_limit.count() << " ms\n"
                << world.logs();
      return 1;
    }
    std::cout << "round " << round << ": " << fault << ", recovered after "
              << Seconds(std::chrono::steady_clock::now() - before).count() << " s" << std::endl;
  }
  const Comparison comparison = world.finish();
  for (const auto& [fault, times] : world.faults()) std::cout << times << " x " << fault << "\n";
  std::cout << "chaos: " << rounds << " rounds in "
            << Seconds(std::chrono::steady_clock::now() - began).count() << " s, seed " << seed
            << ": " << comparison << "\n";
  const bool kept = comparison.lost == 0 && comparison.out_of_order == 0 &&
                    comparison.foreign == 0 && comparison.wrong_bytes == 0 &&
                    comparison.wrong_partition == 0 && comparison.committed > 0;
  if (!kept) std::cout << "the promise is broken\n" << world.logs();
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace walpost::test

int main(int argc, char** argv) {
  CLI::App app("Breaks the real parts around walpost, one fault a round.");
  int rounds = 20;
  std::uint64_t seed = 1;
  app.add_option("--rounds", rounds, "how many faults, one after the other");
  app.add_option("--seed", seed, "chooses faults and moments; the machine's timing adds to it");
  CLI11_PARSE(app, argc, argv);
  try {
    return walpost::test::run(rounds, seed);
  } catch (const std::exception& e) {
    std::cout << e.what() << "\n";
    return 1;
  }
}
