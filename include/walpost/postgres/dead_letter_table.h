#pragma once

#include <memory>

#include "walpost/postgres/options.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/dead_letter_store.h"

namespace walpost::postgres {

/// Table walpost.dead_letter as the relay's store, over a connection of its own that is opened when
/// it is needed and given up after an error. A call that finds the table locked or the server slow
/// fails as transient after a few seconds.
class DeadLetterTable final : public relay::DeadLetterStore {
 public:
  /// `clock` must outlive this.
  DeadLetterTable(Options options, relay::Clock& clock);
  ~DeadLetterTable() override;

  relay::KeptLetters recall(const relay::StreamStart& start) override;
  void keep(const relay::DeadLetter& letter) override;
  void park(const relay::DeadLetter& letter) override;
  [[nodiscard]] bool keep_waiting(const relay::DeadLetter& letter) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace walpost::postgres
