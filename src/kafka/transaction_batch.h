#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"

namespace walpost::kafka {

/// Decides when a Kafka transaction is to be committed: when its oldest event has waited for the
/// interval, or when it holds as many events as the relay lets be in flight, which would otherwise
/// wait for each other. A position that moved without events is worth a transaction of its own at
/// most once a second. Pure; one thread; no allocation.
class TransactionBatch {
 public:
  static constexpr std::chrono::seconds position_interval{1};

  explicit TransactionBatch(const TransactionLimits& limits) : limits_(limits) {}

  /// An event was accepted, whether it is part of the transaction already or waits for the next.
  void added(relay::Instant now);
  /// What was added before goes with the commit that begins now.
  void closed(relay::Instant now);

  [[nodiscard]] bool due(relay::Instant now) const;
  /// When it becomes due by age; nothing while no event was added.
  [[nodiscard]] std::optional<relay::Instant> next_due() const;
  /// When the next transaction for the position alone may be made.
  [[nodiscard]] relay::Instant next_position() const { return closed_at_ + position_interval; }

 private:
  TransactionLimits limits_;
  std::size_t events_ = 0;
  relay::Instant oldest_{};  // meaningful while events_ > 0
  relay::Instant closed_at_{};
};

}  // namespace walpost::kafka
