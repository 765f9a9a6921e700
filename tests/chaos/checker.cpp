#include "chaos/checker.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <iostream>
#include <ostream>

#include "support/postgres_server.h"

namespace walpost::test {
namespace {

constexpr milliseconds reading_span{80};
constexpr std::size_t records_at_once = 5000;
// Enough to see the pattern.
constexpr std::size_t violations_kept = 20;

std::optional<RowId> id_of(const RecordView& record) {
  for (const auto& [name, value] : record.headers)
    if (name == "messageId" && value) return row_id(*value);
  return std::nullopt;
}

std::int32_t java_partition(std::string_view key, int partitions) {
  return rd_kafka_msg_partitioner_murmur2(nullptr, key.data(), key.size(), partitions, nullptr,
                                          nullptr);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << t.events << " events, " << t.published << " records, lost " << t.lost
             << ", foreign " << t.foreign << ", out of order " << t.out_of_order << ", repeats "
             << t.repeats << ", wrong bytes " << t.wrong_bytes << ", wrong partition "
             << t.wrong_partition << "; besides " << t.unpublished
             << " rows written while unpublished and " << t.deleted
             << " events unread in a topic that was deleted";
}

Checker::Checker(std::string conninfo, std::string bootstrap, std::string topic,
                 std::string doomed_topic)
    : conninfo_(std::move(conninfo)),
      bootstrap_(std::move(bootstrap)),
      outbox_{std::move(topic), false},
      doomed_{std::move(doomed_topic), true},
      thread_([this] { run(); }) {}

Checker::~Checker() {
  ending_ = true;
  thread_.join();
}

void Checker::during(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

// Returns only when the reader is gone.
void Checker::forget_doomed() {
  reading_doomed_ = false;
  std::unique_lock lock(mutex_);
  const std::uint64_t now = turns_;
  turned_.wait(lock, [&] { return turns_ > now + 1; });
}

void Checker::read_doomed() {
  reading_doomed_ = true;
}

bool Checker::all_seen_before(const std::string& mark, Deadline deadline) {
  std::unique_lock lock(mutex_);
  return turned_.wait_for(lock, deadline.left(), [&] {
    const auto rank = order_.rank_of(mark);
    return !violations_.empty() || (rank && order_.missing_before(*rank) == 0);
  }) && violations_.empty();
}

std::vector<std::string> Checker::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

Tally Checker::tally() const {
  const std::lock_guard lock(mutex_);
  Tally tally = tally_;
  tally.events = order_.events();
  tally.unpublished = order_.unpublished();
  tally.deleted = order_.deleted();
  tally.lost = order_.missing();
  return tally;
}

void Checker::run() {
  while (!ending_) {
    read_records(outbox_);
    read_records(doomed_);
    read_order();
    const std::lock_guard lock(mutex_);
    judge_held(outbox_);
    judge_held(doomed_);
    ++turns_;
    turned_.notify_all();
  }
}

void Checker::read_records(Topic& topic) {
  const Deadline deadline = Deadline::in(reading_span);
  if (topic.doomed && !reading_doomed_) {
    topic.reader.reset();
    topic.offsets.clear();
    return;
  }
  try {
    if (!topic.reader) topic.reader = std::make_unique<KafkaReader>(bootstrap_, topic.name);
    topic.partitions = topic.reader->partitions();
    topic.reader->each(records_at_once, deadline,
                       [&](const RecordView& record) { take(topic, record); });
  } catch (const std::runtime_error&) {
    topic.reader.reset();  // the brokers are away; asked again with the next turn
  }
}

void Checker::take(Topic& topic, const RecordView& record) {
  // A client that lost its place begins anew.
  const auto [last, first] = topic.offsets.try_emplace(record.partition, record.offset);
  if (!first && record.offset <= last->second) return;
  last->second = record.offset;
  topic.held.push_back({record.partition, id_of(record), std::string(record.key.value_or("")),
                        std::string(record.value.value_or("")), readings_begun_});
}

void Checker::read_order() {
  const std::lock_guard lock(mutex_);
  try {
    const std::uint64_t reading = readings_begun_ + 1;
    order_.read(conninfo_);
    readings_begun_ = reading;
  } catch (const SqlError&) {
    // The server is away; asked again with the next turn.
  }
}

// A record that the server has not committed by the time it is asked afterwards is nobody's.
void Checker::judge_held(Topic& topic) {
  while (!topic.held.empty()) {
    const Held& record = topic.held.front();
    CommitOrder::Row* const row = record.id ? order_.find(*record.id) : nullptr;
    if (row == nullptr && record.read_at >= readings_begun_) return;
    ++tally_.published;
    if (row == nullptr)
      found_wrong(&Tally::foreign, "a record of no committed row in " + topic.name);
    else
      judge(topic, *row, record);
    topic.held.pop_front();
  }
}

void Checker::judge(Topic& topic, CommitOrder::Row& row, const Held& record) {
  const std::string where = topic.name + "/" + std::to_string(record.partition);
  if (!row.published || row.doomed != topic.doomed)
    return found_wrong(&Tally::foreign, "a record of a row that is no event of " + where);
  if (row.seen) {
    ++tally_.repeats;
    return;
  }
  if (record.key != row.key || record.value != row.payload)
    found_wrong(&Tally::wrong_bytes, "another key or value in " + where);
  if (record.partition != java_partition(row.key, topic.partitions))
    found_wrong(&Tally::wrong_partition, "the wrong partition: " + where);
  if (order_.excused(row)) {
    ++tally_.repeats;
    return order_.seen(row);
  }
  std::uint64_t& highest = topic.highest[record.partition];
  if (row.rank < highest)
    found_wrong(&Tally::out_of_order, "commit " + std::to_string(row.rank) + " after commit " +
                                          std::to_string(highest - 1) + " in " + where);
  highest = std::max(highest, row.rank + 1);
  order_.seen(row);
}

void Checker::found_wrong(std::size_t Tally::*count, const std::string& what) {
  ++(tally_.*count);
  if (violations_.size() >= violations_kept) return;
  violations_.push_back(what + ", during: " + fault_);
  std::cout << "WRONG: " << violations_.back() << std::endl;
}

}  // namespace walpost::test
