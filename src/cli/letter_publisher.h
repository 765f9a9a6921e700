#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "walpost/kafka/producer_sink.h"
#include "walpost/postgres/dead_letter_queue.h"
#include "walpost/relay/clock.h"

namespace walpost::cli {

/// Publishes kept letters, each as the record that its row describes.
class LetterPublisher {
 public:
  /// `clock` must outlive this.
  LetterPublisher(kafka::Options options, relay::Clock& clock);

  struct Outcome {
    std::size_t published = 0;  ///< how many of the first were acknowledged
    std::optional<std::string>
        refusal{};  ///< why the next one can't be published; nothing: all were
  };
  /// Letters of one key, in their order; none behind one that is refused. Throws
  /// relay::SessionFailure when the brokers don't answer in time, or on a stop request.
  [[nodiscard]] Outcome publish(std::span<const postgres::KeptLetter> letters);

 private:
  [[nodiscard]] bool may_follow(std::span<const postgres::KeptLetter> letters,
                                std::size_t number) const;
  [[nodiscard]] bool offer(const postgres::KeptLetter& letter, std::size_t number);
  void poll();
  void wait(relay::Instant until);

  relay::Clock& clock_;
  kafka::ProducerSink sink_;
  bool open_ = false;

  // Of the present call.
  std::vector<bool> delivered_;
  std::optional<std::string> refusal_;
  bool failed_ = false;  ///< by the brokers: nothing more comes of this producer
  relay::Reports reports_;
};

}  // namespace walpost::cli
