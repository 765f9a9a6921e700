#include "simulation/simulation.h"

#include <algorithm>

#include "simulation/model_broker.h"
#include "simulation/model_letters.h"
#include "simulation/model_server.h"
#include "simulation/world.h"
#include "walpost/relay/relay.h"

namespace walpost::simulation {
namespace {

// A world that doesn't come to rest within this many turns has found a livelock.
constexpr int turns_of_faults = 600;
constexpr int turns_limit = 60000;

class ModelClock final : public relay::Clock {
 public:
  ModelClock(World& world, ModelServer& server, ModelBroker& broker, ModelLetters& letters)
      : world_(world), server_(server), broker_(broker), letters_(letters) {}

  [[nodiscard]] Instant now() const override { return world_.now; }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  [[nodiscard]] int stop_requests() const override { return stops_; }

  void wait(std::vector<pollfd>&, Instant until) override {
    if (++turns_ == turns_of_faults) {
      world_.calm = true;
      world_.trace("no more faults from here");
    }
    if (turns_ > turns_limit) {
      world_.violate("the world never comes to rest");
      throw Killed{};
    }
    spins_ = until <= world_.now ? spins_ + 1 : 0;
    if (spins_ > 20) world_.violate("the loop spins: it waits for a time that has passed");
    static constexpr microseconds strides[] = {microseconds(10), microseconds(300), milliseconds(5),
                                               milliseconds(500)};
    const auto stride = strides[world_.below(4)];
    world_.now += std::clamp(std::chrono::duration_cast<microseconds>(until - world_.now),
                             microseconds(1), stride);
    server_.step();
    broker_.step();
    letters_.step();
    if (world_.fault(world_.faults.kill)) {
      ++world_.fault_count;
      throw Killed{};
    }
    if (world_.fault(world_.faults.stop_request)) ++stops_;
    if (at_rest()) stops_ = std::max(stops_, 1);
  }
  void start_process() { stops_ = 0; }

 private:
  [[nodiscard]] bool at_rest() const {
    return world_.calm && world_.transactions.size() >= world_.transactions_wanted &&
           server_.confirmed() >= world_.transactions.back().end && !server_.was_moved() &&
           letters_.empty();
  }

  World& world_;
  ModelServer& server_;
  ModelBroker& broker_;
  ModelLetters& letters_;
  int stops_ = 0;
  int turns_ = 0;
  int spins_ = 0;
};

/// One process of walpost after another, and the operator between them.
class Simulation {
 public:
  Simulation(std::uint64_t seed, bool tell_story)
      : world_(seed, tell_story),
        server_(world_),
        broker_(world_),
        letters_(world_),
        clock_(world_, server_, broker_, letters_) {}

  std::size_t run() {
    std::size_t processes = 0;
    bool done = false;
    while (!done && world_.violations().empty()) {
      ++processes;
      done = run_process();
    }
    world_.check_end(server_.confirmed());
    return processes - 1;
  }
  [[nodiscard]] World& world() { return world_; }

 private:
  // True when nothing is left to do.
  bool run_process() {
    outbox::Mapper mapper({});
    outbox::Router router({});
    clock_.start_process();
    server_.new_process();
    relay::Options options;
    options.in_flight_events = 1 + world_.below(50);
    options.jitter_seed = world_.random();
    options.poison.action = world_.on_poison;
    options.poison.max_dead_letters = world_.chance(0.1) ? 3 : 1000;
    const bool stops = world_.on_poison == relay::OnPoison::stop;
    relay::Relay relay(server_, broker_, clock_, mapper, router, options,
                       stops ? nullptr : &letters_);
    relay::Outcome outcome;
    try {
      outcome = relay.run();
    } catch (const Killed&) {
      world_.trace("killed");
      broker_.discard();
      server_.abandon();
      return false;
    } catch (const std::logic_error& e) {
      world_.violate(e.what());
      return true;
    }
    return conclude(outcome);
  }

  bool conclude(const relay::Outcome& outcome) {
    switch (outcome.end) {
      case relay::Outcome::End::stopped:
        world_.trace("stopped cleanly");
        if (world_.calm) world_.check_clean_stop(server_.confirmed());
        return world_.calm && server_.confirmed() >= world_.transactions.back().end &&
               !server_.was_moved() && letters_.empty();
      case relay::Outcome::End::drain_timed_out:
        return false;
      case relay::Outcome::End::poisoned:
        mend();
        return false;
      case relay::Outcome::End::refused:
        if (server_.accept_move()) {
          world_.trace("refused: the operator publishes what the move left out");
          return false;
        }
        world_.violate("refused without a reason");
        return true;
    }
    return true;
  }

  // The operator raises the topic's limit, and skips what has no key as the error says.
  void mend() {
    world_.trace("operator mends");
    bool skipped = false;
    for (const Transaction& transaction : world_.transactions) {
      for (RowNumber n = transaction.first_row; n < transaction.first_row + transaction.rows; ++n) {
        Row& row = world_.rows[n];
        row.rejected = row.refused = false;
        // A crash takes the slot back, and what was skipped is met again.
        if (row.poison && server_.confirmed() <= transaction.commit && !skipped) {
          skip(transaction);
          skipped = true;
        }
      }
    }
  }

  void skip(const Transaction& transaction) {
    for (const Transaction& before : world_.transactions)
      for (RowNumber n = before.first_row; n < before.first_row + before.rows; ++n)
        if (before.commit < transaction.commit && world_.rows[n].appended == 0 &&
            !world_.rows[n].skipped) {
          world_.trace("row " + std::to_string(n) + " is still to come: nothing is skipped");
          return;
        }
    for (RowNumber n = transaction.first_row; n < transaction.first_row + transaction.rows; ++n)
      world_.rows[n].skipped = true;
    server_.advance(Lsn{transaction.commit.value + 1});
  }

  World world_;
  ModelServer server_;
  ModelBroker broker_;
  ModelLetters letters_;
  ModelClock clock_;
};

}  // namespace

Verdict simulate(std::uint64_t seed, bool tell_story) {
  Simulation simulation(seed, tell_story);
  Verdict verdict;
  verdict.seed = seed;
  verdict.restarts = simulation.run();
  World& world = simulation.world();
  verdict.violations = world.violations();
  verdict.story = world.story();
  verdict.events = world.rows.size();
  verdict.duplicates = world.duplicates;
  verdict.faults = world.fault_count;
  return verdict;
}

}  // namespace walpost::simulation
