#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_log.h"
#include "delivery_report.h"
#include "librdkafka.h"
#include "producer.h"
#include "properties.h"
#include "slow_start.h"
#include "topic_directory.h"
#include "wakeup.h"
#include "walpost/kafka/options.h"
#include "walpost/outbox/record.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/failure.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// Sends records through at most one producer at a time, and keeps what outlives it: what both
/// sinks are made of. The side of publish() is in producer_session.cpp, that of poll() in
/// producer_session_poll.cpp.
class ProducerSession {
 public:
  ProducerSession(Options options, relay::Clock& clock);
  ~ProducerSession();
  ProducerSession(const ProducerSession&) = delete;
  ProducerSession& operator=(const ProducerSession&) = delete;

  /// Creates a producer, in place of the present one. With a transactional id it is one that may
  /// publish only between begin_transaction and commit_transaction, which are the caller's; a batch
  /// that fails then fails as a whole, so that partitions need no slow start.
  void open(const std::optional<std::string>& transactional_id = std::nullopt);
  void close() noexcept;
  relay::Accepted publish(const outbox::Record& record, relay::Token token);
  /// Why the latest publish() refused its record.
  [[nodiscard]] const std::string& refusal() const { return refused_; }
  void poll(relay::Reports& reports);

  /// Whether publish() would take a record for `topic`; if not, poll() does what is missing.
  [[nodiscard]] bool takes(std::string_view topic);
  /// Nothing has failed.
  [[nodiscard]] bool working() const { return condition_ == Condition::working; }
  /// Whether publish() would refuse the record, which refusal() then explains. REQUIRES: takes().
  [[nodiscard]] bool refuses(const outbox::Record& record);
  /// Only another producer can go on: for smaller batches. The session replaces it by itself as
  /// soon as nothing is under way, unless it is one of transactions.
  [[nodiscard]] bool needs_replacement() const { return batches_too_large_; }

  /// Whether the topic of positions can be written to. REQUIRES: options.position_slot is set.
  [[nodiscard]] bool can_note() const;
  /// Sends a record to the topic of positions; false if it can't now.
  bool note(const std::string& key, const std::string& value);
  /// Notes that weren't acknowledged yet.
  [[nodiscard]] std::size_t notes_in_flight() const { return notes_in_flight_; }
  /// Notes that were, by all producers of this session.
  [[nodiscard]] std::size_t notes_delivered() const { return notes_delivered_; }

  /// Of the present producer; only while open.
  [[nodiscard]] rd_kafka_t* client() const { return producer_->client(); }
  /// Takes events off the queue for at most `wait` and forgets them: what is still under way is
  /// given up, but librdkafka counts a message until its report was taken.
  void drop_events(std::chrono::milliseconds wait);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Wakeup& wakeup() { return wakeup_; }
  /// As of the latest poll().
  [[nodiscard]] relay::Instant now() const { return now_; }
  /// poll() is to be called at `due` at the latest. To be said after each poll() again.
  void wake_by(relay::Instant due);
  [[nodiscard]] int wake_fd() const { return wakeup_.fd(); }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::size_t in_flight_bytes() const { return in_flight_bytes_; }

 private:
  /// Whether anything may still be handed to the producer.
  enum class Condition {
    working,
    producer_failed,  ///< nothing may go on
  };
  enum class Sent { yes, full, refused, failed };

  /// It is the topic of positions, which takes no events.
  [[nodiscard]] bool is_ours(std::string_view topic) const;
  [[nodiscard]] bool is_too_large(const outbox::Record& record, const Topic& topic) const;
  void count(const outbox::Record& record);
  relay::Accepted send(const outbox::Record& record, const Topic& topic, relay::Token token);
  Sent produce(const outbox::Record& record, rd_kafka_topic_t* topic, std::int32_t partition,
               relay::Token token);
  Sent failed_to_produce(rd_kafka_resp_err_t error, const outbox::Record& record,
                         relay::Token token);
  void fail(const outbox::Record& record, relay::Token token, relay::DeliveryFailure::Kind kind,
            std::string reason);

  void serve_events(relay::Reports& reports);
  void serve(EventHandle event, relay::Reports& reports);
  void serve_deliveries(rd_kafka_event_t* event, relay::Reports& reports);
  void take_note_report(const rd_kafka_message_t& message);
  void take_failure(RankedFailure failure);
  void serve_error(rd_kafka_event_t* event);
  void await_cause(relay::Reports& reports);
  void report_failures(relay::Reports& reports);
  void release_held();
  void advance_topics();
  void admit(Topic& topic);
  void fit_batches();
  void arm_timer();

  const Options options_;
  relay::Clock& clock_;
  Wakeup wakeup_;
  TopicDirectory topics_;
  ClientLog log_;
  std::optional<std::size_t> batch_limit_;  // the smallest max.message.bytes seen
  unsigned generation_ = 0;                 // how many producers there were

  // Of the present producer. Its topic handles live in `topics_` and must go first.
  ProducerProperties properties_;
  std::unique_ptr<Producer> producer_;
  SlowStart slow_start_;
  relay::Instant now_{};  // as of the latest poll(): a clock read for every record costs more
  Condition condition_ = Condition::working;
  std::size_t in_flight_ = 0;
  std::size_t in_flight_bytes_ = 0;
  std::size_t notes_in_flight_ = 0;
  std::size_t notes_delivered_ = 0;
  bool transactional_ = false;
  bool batches_too_large_ = false;  // wait until nothing is in flight, then replace the producer
  bool cause_known_ = false;        // a failure was seen that explains the others
  bool fatal_seen_ = false;
  bool transaction_failed_ = false;      // as the refusal of a record says that isn't the cause
  std::vector<RankedFailure> failures_;  // for the next report
  std::optional<relay::SessionFailure> refusal_;
  std::string refused_;                           // why the latest record was
  std::optional<relay::Instant> wake_at_;         // what the timer is set to
  std::vector<outbox::Header> released_headers_;  // scratch
};

}  // namespace walpost::kafka
