#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "walpost/outbox/event.h"
#include "walpost/outbox/record.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/source.h"

namespace walpost::relay {

/// An event that was taken out of the stream, as complete as it could be made. Views are valid
/// during the call they are given to.
struct DeadLetter {
  outbox::Position position{};
  std::string_view event_id{};
  std::string_view table{};  ///< schema.table
  std::optional<std::string_view> topic{};
  std::optional<std::string_view> key{};
  std::optional<std::string_view> value{};
  std::span<const outbox::Header> headers{};
  std::string_view row_headers{};  ///< where they can't be read; empty otherwise
  std::string_view reason{};       ///< one sentence without any content
};

/// What is kept of a slot's stream from earlier on.
struct KeptLetters {
  struct ParkedKey {
    std::string key;
    outbox::Position since;  ///< of the letter that it was parked with
  };
  std::vector<ParkedKey> parked_keys;
  /// Of letters whose transactions the stream may send again, whatever became of them since.
  std::vector<outbox::Position> positions;
  /// How long ago each letter of the last hour was kept.
  std::vector<milliseconds> recent;
};

/// Where dead letters and parked events are kept. One thread. Blocks for at most a few seconds:
/// letters are rare, and bounded by delivery.max_dead_letters. Every failure is thrown as a
/// SessionFailure.
class DeadLetterStore {
 public:
  virtual ~DeadLetterStore() = default;

  /// What concerns a stream that begins with `start`.
  virtual KeptLetters recall(const StreamStart& start) = 0;

  /// Durable when it returns, and kept once however often it is called.
  virtual void keep(const DeadLetter& letter) = 0;

  /// As keep(), and parks the letter's key: later events of it are to wait. REQUIRES: a key, whose
  /// earlier events are all acknowledged, since somebody may publish the letter from now on.
  virtual void park(const DeadLetter& letter) = 0;

  /// As keep(), if the letter's key is still parked. False: it was released; nothing was kept, and
  /// whatever waited has been published.
  [[nodiscard]] virtual bool keep_waiting(const DeadLetter& letter) = 0;
};

}  // namespace walpost::relay
