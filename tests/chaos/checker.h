#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/commit_order.h"
#include "support/deadline.h"
#include "support/kafka_reader.h"

namespace walpost::test {

/// What the checker has counted.
struct Tally {
  std::size_t events = 0;           ///< committed rows that are to be published
  std::size_t unpublished = 0;      ///< rows committed while their table was in no publication
  std::size_t deleted = 0;          ///< events that an operator deleted with their topic
  std::size_t published = 0;        ///< records read
  std::size_t lost = 0;             ///< events in no record
  std::size_t foreign = 0;          ///< records of no event
  std::size_t out_of_order = 0;     ///< first appearances behind a later one of the same partition
  std::size_t repeats = 0;          ///< records beyond the first of their event
  std::size_t wrong_bytes = 0;      ///< key is not aggregate_id, or value is not payload
  std::size_t wrong_partition = 0;  ///< not where murmur2 of the key puts it
};
std::ostream& operator<<(std::ostream& out, const Tally& tally);

/// Reads every partition of both topics all the time, holds each record against the order of
/// commits as it comes, and says at once what is wrong, with the fault of that moment. Its own
/// thread; every member may be called from any.
class Checker {
 public:
  /// The topics of the tables outbox and outbox_doomed.
  Checker(std::string conninfo, std::string bootstrap, std::string topic, std::string doomed_topic);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// Named in what is found from here on.
  void during(const std::string& fault);
  /// Stops reading the topic of outbox_doomed, which is to be deleted; and reads it from its
  /// beginning when it is there again.
  void forget_doomed();
  void read_doomed();
  /// Whether every event that was committed before the mark is in its topic.
  [[nodiscard]] bool all_seen_before(const std::string& mark, Deadline deadline);
  /// What was wrong so far; empty: nothing.
  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] Tally tally() const;

 private:
  struct Held {
    std::int32_t partition;
    std::optional<RowId> id;
    std::string key;
    std::string value;
    std::uint64_t read_at;  ///< how many readings of the order were begun by then
  };
  struct Topic {
    std::string name;
    bool doomed;
    int partitions = 0;
    std::unique_ptr<KafkaReader> reader = {};
    std::deque<Held> held = {};                          ///< those not yet known to the order
    std::map<std::int32_t, std::int64_t> offsets = {};   ///< read up to
    std::map<std::int32_t, std::uint64_t> highest = {};  ///< rank seen, plus one
  };

  void run();
  void read_records(Topic& topic);
  void take(Topic& topic, const RecordView& record);
  void read_order();
  void judge_held(Topic& topic);
  void judge(Topic& topic, CommitOrder::Row& row, const Held& record);
  void found_wrong(std::size_t Tally::*count, const std::string& what);

  const std::string conninfo_;
  const std::string bootstrap_;
  Topic outbox_;
  Topic doomed_;
  std::atomic<bool> reading_doomed_ = true;
  std::atomic<bool> ending_ = false;

  mutable std::mutex mutex_;  ///< over what follows
  std::condition_variable turned_;
  std::uint64_t turns_ = 0;
  CommitOrder order_;
  std::uint64_t readings_begun_ = 0;
  Tally tally_;
  std::string fault_ = "none yet";
  std::vector<std::string> violations_;

  std::thread thread_;
};

}  // namespace walpost::test
