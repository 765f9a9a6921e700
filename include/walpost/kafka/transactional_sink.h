#pragma once

#include <memory>

#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// Exactly once: events go into Kafka transactions, many to each, together with the position up to
/// which the stream is published. An event counts as delivered once its transaction is committed,
/// and one that the position read back at the beginning covers isn't published again. A second
/// instance fences the first; consumers have to read committed records only.
///
/// Owns a thread for librdkafka's blocking calls. discard() may wait some seconds for one.
class TransactionalSink final : public relay::Sink {
 public:
  /// `clock` must outlive this. REQUIRES: options.position_slot is set. Throws
  /// relay::SessionFailure(refused) for unusable properties.
  TransactionalSink(Options options, relay::Clock& clock);
  ~TransactionalSink() override;

  void open(const relay::StreamStart& start) override;
  relay::Accepted publish(const outbox::Record& record, relay::Token token) override;
  [[nodiscard]] const std::string& refusal() const override;
  void poll(relay::Reports& reports) override;
  [[nodiscard]] pgoutput::Lsn secure(pgoutput::Lsn acknowledged, pgoutput::Lsn sealed) override;
  [[nodiscard]] int wake_fd() const override;
  [[nodiscard]] std::size_t in_flight() const override;
  [[nodiscard]] std::size_t in_flight_bytes() const override;
  void discard() noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace walpost::kafka
