#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "walpost/outbox/record.h"
#include "walpost/relay/source.h"
#include "walpost/relay/token.h"

namespace walpost::relay {

/// What publish() did with a record.
enum class Accepted {
  yes,      ///< copied; a report for its token will follow
  full,     ///< not taken: the same record must be offered again after poll(), before any other
  refused,  ///< can't ever be delivered as it is, and wasn't taken: no report will follow
};

/// A record that will never be delivered by this producer.
struct DeliveryFailure {
  enum class Kind {
    retryable,  ///< may succeed after a restart of the producer
    permanent,  ///< the record itself is refused for good: poison
    fatal,      ///< the producer is unusable; says nothing about the record
  };
  Kind kind = Kind::fatal;
  std::optional<Token> token;  ///< nothing when the producer as a whole failed
  std::string topic;
  std::string event_id;  ///< from the record's messageId header, where it has one
  std::string reason;    ///< the broker's or librdkafka's words, without any content
};

/// Filled by poll(); the caller clears and reuses it, so the steady state allocates nothing.
struct Reports {
  std::vector<Token> delivered;
  std::vector<DeliveryFailure> failed;
  void clear() {
    delivered.clear();
    failed.clear();
  }
};

/// Where records go. Contract: reports come in any order; a record counts as published only once
/// its token was reported delivered; per topic and key, records become visible in the order of
/// publish(); after the first failure report nothing that was published later may be relied upon,
/// and discard() must be called. One thread. Never blocks for long: at most a quarter of a second.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Creates a producer for the stream that begins with `start`. Does not wait for brokers. Throws
  /// SessionFailure.
  virtual void open(const StreamStart& start) = 0;

  /// Offers one record. Throws SessionFailure (refused: missing topic). What only the brokers can
  /// tell is reported through poll() as a permanent failure.
  virtual Accepted publish(const outbox::Record& record, Token token) = 0;

  /// Why the latest publish() refused its record: one sentence without any content.
  [[nodiscard]] virtual const std::string& refusal() const = 0;

  /// Serves reports, errors and checks. Throws SessionFailure for a refusal (a topic is missing).
  virtual void poll(Reports& reports) = 0;

  /// How much of the acknowledged prefix may be confirmed to PostgreSQL. `acknowledged` is where
  /// that prefix ends; `sealed` is where it will end once every record taken so far is delivered. A
  /// sink that keeps positions notes `acknowledged` first and returns what it noted before until
  /// the note is durable, which makes wake_fd() readable; any other returns `acknowledged`. Never
  /// goes back while open. Called at every turn, so it must be cheap.
  [[nodiscard]] virtual pgoutput::Lsn secure(pgoutput::Lsn acknowledged, pgoutput::Lsn sealed) = 0;

  /// Readable when poll() has something to do. Valid between open() and discard().
  [[nodiscard]] virtual int wake_fd() const = 0;

  /// Records accepted and not reported yet.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;

  /// About how much memory they take: what the limit on memory is measured by.
  [[nodiscard]] virtual std::size_t in_flight_bytes() const = 0;

  /// Purges everything not sent, destroys the producer, forgets the rest. Safe to call at any time.
  virtual void discard() noexcept = 0;
};

}  // namespace walpost::relay
