#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "producer_session.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/source.h"

namespace walpost::kafka {

/// Keeps the position of an at-least-once stream in the topic of positions, through the producer of
/// its events: one note at a time, and not too many. Does nothing where the producer's options name
/// no slot. One thread.
class PositionNotes {
 public:
  /// Each note costs the brokers a write; a later one means more repeats after a crash of
  /// PostgreSQL.
  static constexpr std::chrono::milliseconds spacing{100};

  explicit PositionNotes(ProducerSession& producer) : producer_(producer) {}

  /// A new stream, whose producer is new too.
  void open(const relay::StreamStart& start);
  /// As Sink::secure().
  [[nodiscard]] pgoutput::Lsn secure(pgoutput::Lsn acknowledged);

 private:
  void note(pgoutput::Lsn acknowledged);

  ProducerSession& producer_;
  std::string key_;
  std::string timeline_;
  pgoutput::Lsn durable_;
  pgoutput::Lsn noted_;
  std::size_t awaited_ = 0;  ///< with so many delivered, `noted_` is durable
  relay::Instant sent_at_{};
};

}  // namespace walpost::kafka
