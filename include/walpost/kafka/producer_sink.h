#pragma once

#include <memory>

#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// An idempotent librdkafka producer as the Sink of the product: at least once. Keeps the position
/// in the topic of positions if the options say so.
class ProducerSink final : public relay::Sink {
 public:
  /// `clock` must outlive this. Throws relay::SessionFailure(refused) for unusable properties.
  ProducerSink(Options options, relay::Clock& clock);
  ~ProducerSink() override;

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
