#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cluster_queries.h"
#include "producer_session.h"
#include "topic_facts.h"

namespace walpost::kafka {
namespace {

using relay::DeliveryFailure;
using std::chrono::milliseconds;

// librdkafka raises the fatal error just before it reports the record that caused it, from one
// thread: the report is microseconds away.
constexpr milliseconds wait_for_cause{200};

}  // namespace

/// In this order:
/// 1. a refusal found earlier ends the session;
/// 2. reports, errors, logs and admin results that librdkafka has queued;
/// 3. failures, the cause first;
/// 4. records whose partition was proven by a report go out;
/// 5. topics that aren't ready are asked for; one whose limit is small has the producer replaced.
void ProducerSession::poll(relay::Reports& reports) {
  if (refusal_) throw relay::SessionFailure(*refusal_);
  if (!producer_) return;
  wakeup_.clear();
  now_ = clock_.now();
  serve_events(reports);
  report_failures(reports);
  if (condition_ != Condition::producer_failed) release_held();
  if (condition_ == Condition::working) {
    try {
      advance_topics();
      fit_batches();
    } catch (const relay::SessionFailure& failure) {
      refusal_ = failure;
    }
  }
  arm_timer();
  if (!refusal_) return;
  // What was reported has to reach the caller first.
  if (reports.delivered.empty() && reports.failed.empty()) throw relay::SessionFailure(*refusal_);
  wakeup_.raise();
}

void ProducerSession::serve_events(relay::Reports& reports) {
  while (auto event = producer_->next_event()) serve(std::move(event), reports);
  if ((fatal_seen_ || transaction_failed_) && !cause_known_) await_cause(reports);
}

void ProducerSession::serve(EventHandle event, relay::Reports& reports) {
  switch (rd_kafka_event_type(event.get())) {
    case RD_KAFKA_EVENT_DR:
      return serve_deliveries(event.get(), reports);
    case RD_KAFKA_EVENT_ERROR:
      return serve_error(event.get());
    case RD_KAFKA_EVENT_LOG:
      return log_.line(event.get(), clock_.now());
    case RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT:
      if (topics_.take_limits(read_limits(event.get()))) log_.contact(clock_.now());
      return;
    case RD_KAFKA_EVENT_CREATETOPICS_RESULT:
      if (topics_.take_creation(read_creation(event.get()))) log_.contact(clock_.now());
      return;
    default:
      return;  // an int, not an enumeration: nothing else was asked for
  }
}

void ProducerSession::serve_deliveries(rd_kafka_event_t* event, relay::Reports& reports) {
  const auto now = clock_.now();
  bool any_delivered = false;
  while (const auto* message = rd_kafka_event_message_next(event)) {
    const Topic& topic = topic_of(*message);
    if (topic.role == Topic::Role::positions) {
      take_note_report(*message);
      continue;
    }
    const Lane lane = lane_of(topic.first_lane, static_cast<std::size_t>(message->partition));
    --in_flight_;
    in_flight_bytes_ -= memory_bytes(*message);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (!transactional_) slow_start_.delivered(lane, now);
      reports.delivered.push_back(token_of(*message));
      any_delivered = true;
      continue;
    }
    if (!transactional_) slow_start_.failed(lane);
    take_failure(failure_of(*message, generation_));
  }
  if (any_delivered) log_.contact(now);
}

void ProducerSession::take_note_report(const rd_kafka_message_t& message) {
  --notes_in_flight_;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++notes_delivered_;
    return;
  }
  auto failure = failure_of(message, generation_);
  failure.failure.token.reset();
  // Whatever is wrong with it, it is no event to be set aside.
  if (failure.failure.kind == DeliveryFailure::Kind::permanent) {
    failure.failure.kind = DeliveryFailure::Kind::retryable;
    failure.rank = Rank::environment;
  }
  take_failure(std::move(failure));
}

void ProducerSession::take_failure(RankedFailure failure) {
  cause_known_ = cause_known_ || failure.rank == Rank::record || failure.rank == Rank::environment;
  failures_.push_back(std::move(failure));
  condition_ = Condition::producer_failed;
}

void ProducerSession::serve_error(rd_kafka_event_t* event) {
  if (rd_kafka_event_error_is_fatal(event) == 0) return log_.error(event, clock_.now());
  const auto fatal = fatal_error(producer_->client());
  if (fatal_seen_ || !fatal) return;
  fatal_seen_ = true;
  condition_ = Condition::producer_failed;
  // Any other fatal error is its own cause.
  cause_known_ = cause_known_ || fatal->code != RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE;
  if (fatal->code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED) {
    refusal_.emplace(relay::FailureKind::refused, relay::Side::kafka,
                     "this user may not be an idempotent producer: " + fatal->reason,
                     "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
                     "--operation IdempotentWrite --cluster");
    return;
  }
  failures_.push_back(
      {Rank::producer, {DeliveryFailure::Kind::fatal, std::nullopt, {}, {}, fatal->reason}});
}

void ProducerSession::await_cause(relay::Reports& reports) {
  const auto until = clock_.now() + wait_for_cause;
  while (!cause_known_ && clock_.now() < until) {
    if (auto event = producer_->next_event(milliseconds{10})) serve(std::move(event), reports);
  }
  cause_known_ = true;  // or never to be known
}

void ProducerSession::report_failures(relay::Reports& reports) {
  if (failures_.empty()) return;
  // A refusal says more than that records were given up for it.
  if (refusal_) return failures_.clear();
  std::ranges::stable_sort(failures_, {}, &RankedFailure::rank);
  for (auto& [rank, failure] : failures_) reports.failed.push_back(std::move(failure));
  failures_.clear();
}

void ProducerSession::release_held() {
  while (slow_start_.has_released()) {
    const auto [lane, held] = slow_start_.released();
    const outbox::Record record = held.view(released_headers_);
    switch (produce(record, topics_.get(record.topic).handle.get(), held.partition, held.token)) {
      case Sent::yes:
        slow_start_.sent(lane);
        slow_start_.pop();
        break;
      case Sent::full:
        return;
      case Sent::refused:
        fail(record, held.token, DeliveryFailure::Kind::permanent,
             "larger than kafka.message.max.bytes allows");
        [[fallthrough]];
      case Sent::failed:
        --in_flight_;  // it was counted when it was held
        return;
    }
  }
}

void ProducerSession::advance_topics() {
  const auto progress = topics_.advance();
  if (progress.contact) log_.contact(clock_.now());
  for (auto* topic : progress.ready) admit(*topic);
  if (!progress.ready.empty() || progress.unusable)
    wakeup_.raise();  // a record may be waiting to be offered again
}

void ProducerSession::admit(Topic& topic) {
  const auto chosen = properties_.batch_bytes_chosen
                          ? std::optional<std::size_t>(properties_.batch_bytes)
                          : std::nullopt;
  const bool holds_events = topic.role == Topic::Role::events;
  for (const auto& finding :
       holds_events ? judge(topic.facts, chosen) : judge_positions(topic.facts)) {
    if (finding.level == relay::Finding::Level::fail) throw kafka::refusal(finding);
    if (finding.level == relay::Finding::Level::warn && !topic.judged) {
      spdlog::warn("{}: {}; {}", finding.subject, finding.what, finding.mend);
    }
  }
  topic.judged = true;
  if (!holds_events) return;
  topic.first_lane = slow_start_.add(static_cast<std::size_t>(topic.facts.partitions));
  spdlog::debug("topic {} is ready: {} partitions", topic.name, topic.facts.partitions);
  const auto limit = topic.facts.limits.max_message_bytes;
  if (limit && *limit < properties_.batch_bytes) {
    batch_limit_ = std::min(*limit, batch_limit_.value_or(*limit));
    batches_too_large_ = true;
  }
}

/// The broker compares a whole batch with max.message.bytes, and librdkafka doesn't split one that
/// was rejected: a limit below batch.size turns small records into refused ones. batch.size is
/// fixed for a producer's life, so that another one takes over, once nothing is under way.
void ProducerSession::fit_batches() {
  if (transactional_ || !batches_too_large_ || in_flight_ + notes_in_flight_ > 0) return;
  spdlog::info("kafka: batches are at most {} bytes from here on, to fit max.message.bytes",
               *batch_limit_);
  open();
  wakeup_.raise();
}

void ProducerSession::arm_timer() {
  wake_at_.reset();
  const auto due = topics_.next_due();
  if (!due) return wakeup_.after(std::nullopt);
  wake_by(*due);
}

}  // namespace walpost::kafka
