#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/deadline.h"

struct rd_kafka_s;
struct rd_kafka_queue_s;

namespace walpost::test {

using HeaderViews = std::vector<std::pair<std::string_view, std::optional<std::string_view>>>;

/// One record as it lies in Kafka. The views live as long as the callback they are given to.
struct RecordView {
  std::int32_t partition;
  std::int64_t offset;
  std::optional<std::string_view> key;    ///< nothing: null
  std::optional<std::string_view> value;  ///< nothing: null, a tombstone
  milliseconds timestamp;                 ///< since 1970-01-01 UTC; negative: none
  HeaderViews headers;                    ///< in their order, doubles included
};

/// The same, owned.
struct ReadRecord {
  std::int32_t partition;
  std::int64_t offset;
  std::optional<std::string> key;
  std::optional<std::string> value;
  milliseconds timestamp;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;

  /// The value of the only header of that name; nothing if there is none, or it is null; throws if
  /// there are several.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

/// An independent consumer of every partition of one topic, from its beginning, read_committed,
/// with no group. Per partition records come in offset order; among partitions in any. Each call
/// goes on where the one before ended.
class KafkaReader {
 public:
  /// Throws if the topic isn't there. The topic's number of partitions is taken now.
  KafkaReader(const std::string& bootstrap, const std::string& topic);
  ~KafkaReader();
  KafkaReader(const KafkaReader&) = delete;
  KafkaReader& operator=(const KafkaReader&) = delete;

  using OnRecord = std::function<void(const RecordView&)>;

  /// Hands over up to `count` records as they come, keeping none of them; how many by the deadline.
  std::size_t each(std::size_t count, Deadline deadline, const OnRecord& on_record);
  /// Hands over all that was in the topic at the time of the call; throws if the deadline passes.
  std::size_t each_to_end(Deadline deadline, const OnRecord& on_record);

  /// The same two, collected.
  std::vector<ReadRecord> read(std::size_t count, Deadline deadline);
  std::vector<ReadRecord> read_to_end(Deadline deadline);

  [[nodiscard]] int partitions() const { return static_cast<int>(position_.size()); }

 private:
  struct Destroy {
    void operator()(rd_kafka_s* client) const;
    void operator()(rd_kafka_queue_s* queue) const;
  };
  bool poll_one(Deadline deadline, const OnRecord& on_record);
  [[nodiscard]] std::map<std::int32_t, std::int64_t> end_offsets(Deadline deadline) const;
  [[nodiscard]] bool reached(const std::map<std::int32_t, std::int64_t>& ends) const;

  std::string topic_;
  std::unique_ptr<rd_kafka_s, Destroy> client_;
  std::map<std::int32_t, std::int64_t> position_;  ///< partition -> everything before it was read
};

}  // namespace walpost::test
