#pragma once

#include <map>
#include <string>

#include "simulation/world.h"
#include "walpost/relay/dead_letter_store.h"

namespace walpost::simulation {

/// Table walpost.dead_letter, which outlives the process, and the operator who retries letters. A
/// letter may be lost on its way, or be durable although the answer was lost.
class ModelLetters final : public relay::DeadLetterStore {
 public:
  explicit ModelLetters(World& world) : world_(world) {}

  relay::KeptLetters recall(const relay::StreamStart& start) override;
  void keep(const relay::DeadLetter& letter) override;
  void park(const relay::DeadLetter& letter) override;
  [[nodiscard]] bool keep_waiting(const relay::DeadLetter& letter) override;

  /// Lets the operator act: publishes the first letter of a parked key, or releases a key of which
  /// none is left.
  void step();
  [[nodiscard]] bool empty() const { return parked_.empty(); }

 private:
  struct Kept {
    outbox::Position position;
    Instant since;
  };
  void lose_it_perhaps() const;
  void add(const relay::DeadLetter& letter, Row::Letter how);
  void retry(std::string key);

  World& world_;
  std::map<RowNumber, Kept> letters_;
  std::map<std::string, outbox::Position> parked_;
};

}  // namespace walpost::simulation
