#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

/// The state and steps of a ProducerSink: at most one producer at a time, and what outlives it. The
/// side of publish() is in producer_session.cpp, that of poll() in producer_session_poll.cpp.
class ProducerSession {
 public:
  ProducerSession(Options options, relay::Clock& clock);
  ~ProducerSession();
  ProducerSession(const ProducerSession&) = delete;
  ProducerSession& operator=(const ProducerSession&) = delete;

  void open();
  void close() noexcept;
  relay::Accepted publish(const outbox::Record& record, relay::Token token);
  /// Why the latest publish() refused its record.
  [[nodiscard]] const std::string& refusal() const { return refused_; }
  void poll(relay::Reports& reports);
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

  [[nodiscard]] bool is_too_large(const outbox::Record& record, const Topic& topic) const;
  void count(const outbox::Record& record);
  relay::Accepted send(const outbox::Record& record, Topic& topic, relay::Token token);
  Sent produce(const outbox::Record& record, rd_kafka_topic_t* topic, std::int32_t partition,
               relay::Token token);
  Sent failed_to_produce(rd_kafka_resp_err_t error, const outbox::Record& record,
                         relay::Token token);
  relay::Accepted refuse(std::string why);
  void fail(const outbox::Record& record, relay::Token token, relay::DeliveryFailure::Kind kind,
            std::string reason);

  void serve_events(relay::Reports& reports);
  void serve(EventHandle event, relay::Reports& reports);
  void serve_deliveries(rd_kafka_event_t* event, relay::Reports& reports);
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
  bool batches_too_large_ = false;  // wait until nothing is in flight, then replace the producer
  bool cause_known_ = false;        // a failure was seen that explains the others
  bool fatal_seen_ = false;
  std::vector<RankedFailure> failures_;  // for the next report
  std::optional<relay::SessionFailure> refusal_;
  std::string refused_;                           // why the latest record was
  std::vector<outbox::Header> released_headers_;  // scratch
};

}  // namespace walpost::kafka
