#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "position_reader.h"
#include "record_size.h"
#include "transaction_calls.h"
#include "transactional_sink.h"

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Also what an end of the session may have to wait for.
constexpr seconds init_timeout{5};
constexpr milliseconds commit_timeout{5000};
constexpr milliseconds read_slice{200};
constexpr milliseconds flush_check{1000};
// Of held records a turn of the loop: the walsender's socket is full after some 600 us without a
// read.
constexpr std::size_t released_at_once = 256;
// Brokers answer a reading in milliseconds: whoever waits longer wants to know for what.
constexpr seconds patience{10};

/// Until all that was written before is read: the events that it covers must not be published
/// again.
std::optional<PositionRecord> read_position(const PropertyMap& properties, const std::string& key,
                                            const std::atomic<bool>& cancelled) {
  PositionReader reader(properties, key, PositionReader::Extent::all);
  auto warn_at = std::chrono::steady_clock::now() + patience;
  while (!cancelled && !reader.advance(read_slice)) {
    if (std::chrono::steady_clock::now() < warn_at) continue;
    spdlog::warn("kafka: the position {} can't be read yet: waiting for {}", key,
                 reader.waiting_for());
    warn_at += std::chrono::minutes(1);
  }
  return reader.found();
}

}  // namespace

void TransactionalSink::start_producer() {
  producer_.open(id_);
  stage_ = Stage::initialising;
  ready_to_publish_ = false;
  calls_.start([this, client = producer_.client()] {
    ready_to_publish_ = init_transactions(client, id_, init_timeout, cancelled_);
  });
}

/// In this order:
/// 1. what the producer has to tell: reports, failures, topics;
/// 2. what a call has brought;
/// 3. the next step, where there is one;
/// 4. what the relay is to hear.
void TransactionalSink::poll(relay::Reports& reports) {
  if (stage_ == Stage::closed) return;
  serve(reports);
  if (calls_.finished()) take_call();
  if (stage_ != Stage::failed) advance();
  report(reports);
  plan_wake_up();
}

void TransactionalSink::serve(relay::Reports& reports) {
  from_producer_.clear();
  producer_.poll(from_producer_);
  acknowledged_tokens_.insert(acknowledged_tokens_.end(), from_producer_.delivered.begin(),
                              from_producer_.delivered.end());
  if (!from_producer_.failed.empty()) take_failures(reports);
}

/// A record that the brokers refused is part of the transaction, which fails with it.
void TransactionalSink::take_failures(relay::Reports& reports) {
  if (is_fenced(producer_.client())) throw_fenced(id_);
  reports.failed = std::move(from_producer_.failed);
  stage_ = Stage::failed;
}

void TransactionalSink::take_call() {
  switch (stage_) {
    case Stage::initialising:
      return initialised();
    case Stage::recalling:
      return recalled();
    case Stage::committing:
      return committed();
    case Stage::closed:
    case Stage::awaiting_topic:
    case Stage::idle:
    case Stage::open:
    case Stage::flushing:
    case Stage::failed:
      return;
  }
}

void TransactionalSink::initialised() {
  if (ready_to_publish_) {
    stage_ = Stage::awaiting_topic;
    return;
  }
  // librdkafka may have been in the middle of it, and can't tell.
  spdlog::debug("kafka: a new producer tries to begin transactions of {}", id_);
  start_producer();
}

void TransactionalSink::start_recall() {
  recalled_.reset();
  stage_ = Stage::recalling;
  calls_.start(
      [this] { recalled_ = read_position(producer_.options().properties, key_, cancelled_); });
}

void TransactionalSink::recalled() {
  stage_ = Stage::idle;
  if (!recalled_) return;
  if (recalled_->timeline != start_.identity.timeline) {
    throw relay::SessionFailure(
        relay::FailureKind::refused, relay::Side::kafka,
        "the position " + key_ + " in topic " + std::string(positions_topic) + " is of timeline " +
            recalled_->timeline + ", the server is on " + start_.identity.timeline,
        "walpost check names what to do");
  }
  durable_ = *recalled_;
  durable_.confirmed = std::max(durable_.confirmed, start_.start);
  noted_ = durable_;
  spdlog::debug("kafka: events up to {} are published", durable_.confirmed.to_string());
}

/// The next step of the present stage.
void TransactionalSink::advance() {
  const auto now = producer_.now();
  switch (stage_) {
    case Stage::awaiting_topic:
      if (producer_.needs_replacement()) return start_producer();
      if (producer_.can_note()) start_recall();
      return;
    case Stage::idle:
      if (producer_.needs_replacement()) return start_producer();
      if (!held_.empty()) return static_cast<void>(release_held());
      if (!position_moved() || now < batch_.next_position()) return;
      begin();
      return close_transaction();
    case Stage::open:
      if (!release_held() && batch_.due(now)) close_transaction();
      return;
    case Stage::flushing:
      if (complete()) return commit();
      return watch_flush();
    case Stage::closed:
    case Stage::initialising:
    case Stage::recalling:
    case Stage::committing:
    case Stage::failed:
      return;
  }
}

void TransactionalSink::begin() {
  begin_transaction(producer_.client(), id_);
  stage_ = Stage::open;
  produced_ = 0;
  note_sent_ = false;
}

// Each partition is announced to the transaction's coordinator before its first record. The topic
// of positions goes with the others by a position that says nothing new: announced by the last
// record alone, it kept every commit waiting for 4 ms.
void TransactionalSink::begin_for_events() {
  begin();
  static_cast<void>(producer_.note(key_, encode(durable_)));
}

/// Whether there is more that can go at once.
bool TransactionalSink::release_held() {
  for (std::size_t released = 0; released < released_at_once; ++released) {
    if (held_.empty()) return false;
    const outbox::Record record = held_.front().view(held_headers_);
    const auto bytes = memory_bytes(record);
    if (!producer_.takes(record.topic)) return false;
    if (stage_ == Stage::idle) begin_for_events();
    const auto accepted = produce(record, held_.front().token);
    if (accepted == relay::Accepted::full) return false;
    if (accepted == relay::Accepted::refused) refused_late(record);
    held_bytes_ -= bytes;
    held_.pop_front();
  }
  if (!held_.empty()) producer_.wakeup().raise();
  return !held_.empty();
}

/// It was taken when the topic still allowed it: read again, it will be refused at once.
void TransactionalSink::refused_late(const outbox::Record& record) {
  throw relay::SessionFailure(relay::FailureKind::transient, relay::Side::kafka,
                              "topic " + std::string(record.topic) + ": " + producer_.refusal());
}

/// Nothing more goes into the transaction; its last record is the position.
void TransactionalSink::close_transaction() {
  stage_ = Stage::flushing;
  flush_checked_ = producer_.now();
  batch_.closed(producer_.now());
  // What couldn't be sent with it waits for the next from now on.
  if (!held_.empty()) batch_.added(producer_.now());
  noted_.confirmed = std::max(durable_.confirmed, sealed_);
  note_sent_ = producer_.note(key_, encode(noted_));
}

bool TransactionalSink::complete() const {
  return note_sent_ && producer_.notes_in_flight() == 0 && acknowledged_tokens_.size() == produced_;
}

/// A transaction that failed without any record's fault has no report to tell it.
void TransactionalSink::watch_flush() {
  if (!note_sent_) note_sent_ = producer_.note(key_, encode(noted_));
  if (producer_.now() - flush_checked_ < flush_check) return;
  flush_checked_ = producer_.now();
  expect_sound_transaction(producer_.client(), id_);
}

void TransactionalSink::commit() {
  stage_ = Stage::committing;
  calls_.start(
      [this, client = producer_.client()] { commit_transaction(client, id_, commit_timeout); });
}

void TransactionalSink::committed() {
  stage_ = Stage::idle;
  durable_ = noted_;
  settled_.insert(settled_.end(), acknowledged_tokens_.begin(), acknowledged_tokens_.end());
  acknowledged_tokens_.clear();
  produced_ = 0;
}

void TransactionalSink::report(relay::Reports& reports) {
  reports.delivered.insert(reports.delivered.end(), settled_.begin(), settled_.end());
  settled_.clear();
}

void TransactionalSink::plan_wake_up() {
  if (stage_ == Stage::open)
    if (const auto due = batch_.next_due()) producer_.wake_by(*due);
  if (stage_ == Stage::idle && position_moved()) producer_.wake_by(batch_.next_position());
  if (stage_ == Stage::flushing) producer_.wake_by(flush_checked_ + flush_check);
}

}  // namespace walpost::kafka
