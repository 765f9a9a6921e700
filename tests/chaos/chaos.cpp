// Breaks the real parts around walpost, one fault a round, and counts what became of the events.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "chaos/chaos_world.h"

namespace walpost::test {
namespace {

constexpr milliseconds recovery_limit{60000};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

struct Arguments {
  int rounds = 50;
  int seconds = 1000000;
  std::uint64_t seed = 1;
  std::string only;
};

namespace {

/// The rounds, and what they came to.
Tally play(ChaosWorld& world, const Arguments& arguments, int& round) {
  const auto began = std::chrono::steady_clock::now();
  world.catch_up(Deadline::in(recovery_limit));
  while (round < arguments.rounds && seconds_since(began) < arguments.seconds) {
    const auto before = std::chrono::steady_clock::now();
    const std::string fault = world.round();
    const double applied = seconds_since(before);
    world.catch_up(Deadline::in(recovery_limit));
    std::cout << "round " << ++round << ": " << fault << ", " << applied << " s, recovered after "
              << seconds_since(before) - applied << " s" << std::endl;
  }
  return world.finish();
}

}  // namespace

int run(const Arguments& arguments) {
  const auto began = std::chrono::steady_clock::now();
  ChaosWorld world(arguments.seed, arguments.only);
  int round = 0;
  Tally tally;
  bool kept = true;
  try {
    tally = play(world, arguments, round);
  } catch (const std::exception& e) {
    std::cout << e.what() << "\n";
    tally = world.checker.tally();
    kept = false;
  }
  for (const auto& [fault, times] : world.faults()) std::cout << times << " x " << fault << "\n";
  std::cout << "chaos: " << round << " rounds in " << seconds_since(began) << " s, seed "
            << arguments.seed << ": " << tally << "\n";
  kept = kept && tally.lost == 0 && tally.out_of_order == 0 && tally.foreign == 0 &&
         tally.wrong_bytes == 0 && tally.wrong_partition == 0 && tally.events > 0;
  std::cout << (kept ? "the promise is kept\n" : "the run has failed\n");
  return kept ? 0 : 1;
}

}  // namespace walpost::test

int main(int argc, char** argv) {
  CLI::App app("Breaks the real parts around walpost, one fault a round.");
  walpost::test::Arguments arguments;
  app.add_option("--rounds", arguments.rounds, "how many faults, one after the other");
  app.add_option("--seconds", arguments.seconds, "no round begins after so long");
  app.add_option("--seed", arguments.seed,
                 "chooses faults and moments; the machine's timing adds to it");
  app.add_option("--only", arguments.only, "only faults with these words in their name");
  CLI11_PARSE(app, argc, argv);
  try {
    return walpost::test::run(arguments);
  } catch (const std::exception& e) {
    std::cout << e.what() << "\n";
    return 1;
  }
}
