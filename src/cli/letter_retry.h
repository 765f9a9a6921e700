#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "letter_publisher.h"
#include "walpost/postgres/dead_letter_queue.h"

namespace walpost::cli {

/// Publishes letters again in the order of their keys, and releases keys of which none is left.
/// Prints a line for each. A letter that fails again holds back the rest of its key.
class LetterRetry {
 public:
  LetterRetry(postgres::DeadLetterQueue& queue, LetterPublisher& publisher)
      : queue_(queue), publisher_(publisher) {}

  /// Throws relay::SessionFailure (refused) when it isn't there to be retried, or waits behind
  /// another letter of its key.
  void one(std::int64_t id);
  void key(const std::string& key);
  void all();

  [[nodiscard]] std::size_t failures() const { return failures_; }

 private:
  [[nodiscard]] bool publish(const std::vector<postgres::KeptLetter>& letters);

  postgres::DeadLetterQueue& queue_;
  LetterPublisher& publisher_;
  std::size_t failures_ = 0;
};

}  // namespace walpost::cli
