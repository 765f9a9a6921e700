#include "transactional_sink.h"

#include <algorithm>
#include <chrono>

#include "record_size.h"
#include "transaction_calls.h"
#include "walpost/kafka/transactional_sink.h"

namespace walpost::kafka {
namespace {

using relay::Accepted;
using std::chrono::milliseconds;

constexpr milliseconds abort_timeout{2000};
constexpr milliseconds event_wait{20};

}  // namespace

std::unique_ptr<relay::Sink> make_transactional_sink(Options options, relay::Clock& clock) {
  return std::make_unique<TransactionalSink>(std::move(options), clock);
}

TransactionalSink::TransactionalSink(Options options, relay::Clock& clock)
    : clock_(clock),
      producer_(std::move(options), clock),
      calls_(producer_.wakeup()),
      batch_(producer_.options().transactions) {}

TransactionalSink::~TransactionalSink() {
  TransactionalSink::discard();
}

void TransactionalSink::open(const relay::StreamStart& start) {
  discard();
  start_ = start;
  id_ = transactional_id(start.identity.identifier, producer_.options().position_slot);
  key_ = position_key(start.identity.identifier, producer_.options().position_slot);
  durable_ = noted_ = {start.start, std::nullopt, start.identity.timeline};
  acknowledged_ = sealed_ = start.start;
  start_producer();
}

/// A call that runs is waited for: at most the timeout that it was given. What is left of a
/// transaction is aborted, or readers would wait for it until it expires.
void TransactionalSink::discard() noexcept {
  if (stage_ == Stage::closed) return;
  const bool aborts = stage_ == Stage::open || stage_ == Stage::flushing || stage_ == Stage::failed;
  finish_call();
  if (aborts) abort();
  producer_.close();
  forget();
}

void TransactionalSink::finish_call() noexcept {
  cancelled_ = true;
  while (calls_.busy()) {
    producer_.drop_events(event_wait);
    try {
      static_cast<void>(calls_.finished());
    } catch (const std::exception&) {  // the session has ended for another reason
    }
  }
  cancelled_ = false;
}

void TransactionalSink::abort() noexcept {
  try {
    calls_.start([client = producer_.client()] { abort_transaction(client, abort_timeout); });
    finish_call();
  } catch (const std::exception&) {  // the next producer of the id does it
  }
}

void TransactionalSink::forget() noexcept {
  stage_ = Stage::closed;
  batch_.closed(clock_.now());
  produced_ = 0;
  note_sent_ = ready_to_publish_ = false;
  recalled_.reset();
  acknowledged_tokens_.clear();
  settled_.clear();
  held_.clear();
  held_bytes_ = 0;
}

Accepted TransactionalSink::publish(const outbox::Record& record, relay::Token token) {
  switch (stage_) {
    case Stage::idle:
    case Stage::open:
    case Stage::flushing:
    case Stage::committing:
      break;
    case Stage::failed:  // the failure is on its way to the caller
      return Accepted::yes;
    case Stage::closed:
    case Stage::initialising:
    case Stage::awaiting_topic:
    case Stage::recalling:
      return Accepted::full;
  }
  if (covers(durable_, record.position)) {
    settled_.push_back(token);
    producer_.wakeup().raise();
    return Accepted::yes;
  }
  if (!producer_.takes(record.topic)) return Accepted::full;
  if (producer_.refuses(record)) return Accepted::refused;
  const bool between = stage_ == Stage::flushing || stage_ == Stage::committing;
  if (between || !held_.empty()) {
    hold(record, token);
    return Accepted::yes;
  }
  if (stage_ == Stage::idle) begin_for_events();
  const auto accepted = produce(record, token);
  if (accepted == Accepted::yes) batch_.added(producer_.now());
  if (const auto due = batch_.next_due()) producer_.wake_by(*due);
  return accepted;
}

void TransactionalSink::hold(const outbox::Record& record, relay::Token token) {
  held_.emplace_back(record, token, 0);
  held_bytes_ += memory_bytes(record);
  batch_.added(producer_.now());
}

Accepted TransactionalSink::produce(const outbox::Record& record, relay::Token token) {
  const auto accepted = producer_.publish(record, token);
  if (accepted != Accepted::yes || !producer_.working()) return accepted;
  ++produced_;
  noted_.last = EventPlace{record.position.commit_lsn, record.position.ordinal};
  return accepted;
}

pgoutput::Lsn TransactionalSink::secure(pgoutput::Lsn acknowledged, pgoutput::Lsn sealed) {
  acknowledged_ = acknowledged;
  // Also of a record that failed the relay was told that it was taken, and of those behind it.
  if (held_.empty() && producer_.working()) sealed_ = sealed;
  if (stage_ == Stage::idle && position_moved()) producer_.wake_by(batch_.next_position());
  return std::min(acknowledged, durable_.confirmed);
}

std::size_t TransactionalSink::in_flight() const {
  if (stage_ == Stage::failed) return 0;
  return producer_.in_flight() + acknowledged_tokens_.size() + settled_.size() + held_.size();
}

std::size_t TransactionalSink::in_flight_bytes() const {
  return producer_.in_flight_bytes() + held_bytes_;
}

}  // namespace walpost::kafka
