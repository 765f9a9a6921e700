#pragma once

#include <optional>
#include <string>

#include "walpost/kafka/producer_sink.h"
#include "walpost/postgres/dead_letter_queue.h"
#include "walpost/relay/clock.h"

namespace walpost::cli {

/// Publishes kept letters one at a time, each as the record that its row describes.
class LetterPublisher {
 public:
  /// `clock` must outlive this.
  LetterPublisher(kafka::Options options, relay::Clock& clock);

  /// Nothing once the brokers have acknowledged it; otherwise why it can't be published. Throws
  /// relay::SessionFailure when the brokers don't answer in time, or on a stop request.
  [[nodiscard]] std::optional<std::string> publish(const postgres::KeptLetter& letter);

 private:
  [[nodiscard]] std::optional<std::string> deliver(const outbox::Record& record);
  void wait(relay::Instant until);

  relay::Clock& clock_;
  kafka::ProducerSink sink_;
  bool open_ = false;
};

}  // namespace walpost::cli
