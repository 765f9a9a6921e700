#include "producer_session.h"

#include <span>
#include <string_view>
#include <utility>

#include "delivery_errors.h"
#include "partition.h"
#include "position_record.h"
#include "record_size.h"
#include "walpost/kafka/check.h"
#include "walpost/outbox/router.h"

namespace walpost::kafka {
namespace {

using relay::Accepted;
using relay::DeliveryFailure;

HeadersHandle make_headers(std::span<const outbox::Header> headers) {
  HeadersHandle result(rd_kafka_headers_new(headers.size()));
  for (const auto& [name, value] : headers) {
    rd_kafka_header_add(result.get(), present(name), static_cast<ssize_t>(name.size()),
                        value ? present(*value) : nullptr,
                        value ? static_cast<ssize_t>(value->size()) : 0);
  }
  return result;
}

rd_kafka_resp_err_t hand_over(rd_kafka_t* client, const outbox::Record& record,
                              rd_kafka_topic_t* topic, std::int32_t partition, relay::Token token) {
  auto headers = make_headers(record.headers);
  // The tags that the macros RD_KAFKA_V_* stand for; those are written for C.
  const auto error = rd_kafka_producev(
      client, RD_KAFKA_VTYPE_RKT, topic, RD_KAFKA_VTYPE_PARTITION, partition,
      RD_KAFKA_VTYPE_MSGFLAGS, RD_KAFKA_MSG_F_COPY, RD_KAFKA_VTYPE_KEY, present(record.key),
      record.key.size(), RD_KAFKA_VTYPE_VALUE, record.value ? present(*record.value) : nullptr,
      record.value ? record.value->size() : std::size_t{0}, RD_KAFKA_VTYPE_HEADERS, headers.get(),
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the opaque carries the number, never an address
      RD_KAFKA_VTYPE_OPAQUE, reinterpret_cast<void*>(std::uintptr_t{token.packed()}),
      RD_KAFKA_VTYPE_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
    static_cast<void>(headers.release());  // they belong to the message now
  return error;
}

std::string event_id_of(const outbox::Record& record) {
  for (const auto& [name, value] : record.headers) {
    if (name == outbox::message_id_header) return std::string(value.value_or(""));
  }
  return {};
}

Options checked(Options options) {
  const auto errors = property_errors(options.properties);
  if (errors.empty()) return options;
  std::string what;
  for (const auto& error : errors) what += (what.empty() ? "" : "; ") + error;
  throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::kafka, what,
                              "correct the properties under kafka");
}

}  // namespace

ProducerSession::ProducerSession(Options options, relay::Clock& clock)
    : options_(checked(std::move(options))),
      clock_(clock),
      topics_(options_.create_topics, options_.missing_topic_is_poison, clock) {}

ProducerSession::~ProducerSession() {
  close();
}

void ProducerSession::open(const std::optional<std::string>& transactional_id) {
  close();
  transactional_ = transactional_id.has_value();
  properties_ = transactional_id
                    ? transactional_properties(options_.properties, batch_limit_, *transactional_id)
                    : producer_properties(options_.properties, batch_limit_);
  producer_ = std::make_unique<Producer>(properties_, wakeup_.event_fd());
  ++generation_;
  now_ = clock_.now();
  topics_.start(*producer_);
  if (!options_.position_slot.empty()) topics_.positions();
  for (const auto& name : options_.known_topics) topics_.get(name).configured = true;
}

void ProducerSession::close() noexcept {
  topics_.stop();
  producer_.reset();
  slow_start_ = SlowStart{};
  condition_ = Condition::working;
  in_flight_ = in_flight_bytes_ = notes_in_flight_ = 0;
  batches_too_large_ = cause_known_ = fatal_seen_ = transaction_failed_ = false;
  failures_.clear();
  refusal_.reset();
  wakeup_.clear();
  wakeup_.after(std::nullopt);
  wake_at_.reset();
}

bool ProducerSession::is_ours(std::string_view topic) const {
  return topic == positions_topic && !options_.position_slot.empty();
}

bool ProducerSession::takes(std::string_view name) {
  if (is_ours(name)) return true;
  Topic& topic = topics_.get(name);
  if (topic.stage == Topic::Stage::unusable && !topics_.asks_again(topic)) return true;
  if (topic.stage == Topic::Stage::ready && !batches_too_large_) return true;
  if (topic.is_new()) wakeup_.raise();  // poll() has to ask for it
  return false;
}

Accepted ProducerSession::publish(const outbox::Record& record, relay::Token token) {
  if (condition_ != Condition::working) {
    // A failure is on its way to the caller; this record stays unreported until discard().
    ++in_flight_;
    return Accepted::yes;
  }
  if (!takes(record.topic)) return Accepted::full;
  if (refuses(record)) return Accepted::refused;
  return send(record, topics_.get(record.topic), token);
}

bool ProducerSession::refuses(const outbox::Record& record) {
  if (is_ours(record.topic)) {
    refused_ = "topic " + std::string(record.topic) + " is where walpost keeps positions";
    return true;
  }
  const Topic& topic = topics_.get(record.topic);
  if (topic.stage == Topic::Stage::unusable) {
    refused_ = topic.unusable;
    return true;
  }
  if (!is_too_large(record, topic)) return false;
  refused_ = "too large: " + std::to_string(batch_bytes(record)) +
             " bytes with overhead, but topic " + topic.name +
             " has max.message.bytes=" + std::to_string(*topic.facts.limits.max_message_bytes);
  return true;
}

bool ProducerSession::is_too_large(const outbox::Record& record, const Topic& topic) const {
  const auto limit = topic.facts.limits.max_message_bytes;
  // Compressed it may fit: then the broker decides.
  return limit && !properties_.compressed && batch_bytes(record) > *limit;
}

void ProducerSession::count(const outbox::Record& record) {
  ++in_flight_;
  in_flight_bytes_ += memory_bytes(record);
}

Accepted ProducerSession::send(const outbox::Record& record, const Topic& topic,
                               relay::Token token) {
  // Over the count that the topic had when it was checked: it can't change while the producer
  // lives.
  const auto partition = partition_of(record.key, topic.handle.get(), topic.facts.partitions);
  const Lane lane = lane_of(topic.first_lane, static_cast<std::size_t>(partition));
  if (!transactional_ && !slow_start_.may_send(lane, now_)) {
    slow_start_.hold(lane, HeldRecord(record, token, partition));
    count(record);
    return Accepted::yes;
  }
  switch (produce(record, topic.handle.get(), partition, token)) {
    case Sent::yes:
      if (!transactional_) slow_start_.sent(lane);
      count(record);
      return Accepted::yes;
    case Sent::full:
      return Accepted::full;
    case Sent::refused:
      refused_ = "too large: " + std::to_string(batch_bytes(record)) +
                 " bytes with overhead, more than kafka.message.max.bytes allows";
      return Accepted::refused;
    case Sent::failed:
      return Accepted::yes;
  }
  return Accepted::full;
}

ProducerSession::Sent ProducerSession::produce(const outbox::Record& record,
                                               rd_kafka_topic_t* topic, std::int32_t partition,
                                               relay::Token token) {
  const auto error = hand_over(producer_->client(), record, topic, partition, token);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return failed_to_produce(error, record, token);
  return Sent::yes;
}

ProducerSession::Sent ProducerSession::failed_to_produce(rd_kafka_resp_err_t error,
                                                         const outbox::Record& record,
                                                         relay::Token token) {
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return Sent::full;
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) return Sent::refused;
  std::string reason = rd_kafka_err2str(error);
  if (const auto fatal = fatal_error(producer_->client())) reason = fatal->reason;
  // The transaction has failed for another record, whose report is on its way.
  if (transactional_ && error == RD_KAFKA_RESP_ERR__STATE) transaction_failed_ = true;
  fail(record, token, failure_kind(error), std::move(reason));
  return Sent::failed;
}

bool ProducerSession::can_note() const {
  const auto* topic = topics_.known_positions();
  return condition_ != Condition::producer_failed && topic != nullptr &&
         topic->stage == Topic::Stage::ready;
}

bool ProducerSession::note(const std::string& key, const std::string& value) {
  if (!can_note()) return false;
  const outbox::Record record{positions_topic, key, value, {}, {}};
  constexpr std::int32_t partition = 0;
  const auto error =
      hand_over(producer_->client(), record, topics_.positions().handle.get(), partition, {});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) ++notes_in_flight_;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
    return error == RD_KAFKA_RESP_ERR_NO_ERROR;
  fail(record, {}, failure_kind(error), rd_kafka_err2str(error));
  failures_.back().failure.token.reset();
  return false;
}

void ProducerSession::drop_events(std::chrono::milliseconds wait) {
  if (producer_) static_cast<void>(producer_->next_event(wait));
}

void ProducerSession::wake_by(relay::Instant due) {
  if (wake_at_ && *wake_at_ <= due) return;
  wake_at_ = due;
  wakeup_.after(due - clock_.now());
}

void ProducerSession::fail(const outbox::Record& record, relay::Token token,
                           DeliveryFailure::Kind kind, std::string reason) {
  DeliveryFailure failure{kind, token, std::string(record.topic), event_id_of(record),
                          std::move(reason)};
  // A dead producer says nothing about the record that happened to be offered next.
  if (kind == DeliveryFailure::Kind::fatal) failure.token.reset();
  failures_.push_back({rank_of(kind), std::move(failure)});
  condition_ = Condition::producer_failed;
  ++in_flight_;
  wakeup_.raise();
}

}  // namespace walpost::kafka
