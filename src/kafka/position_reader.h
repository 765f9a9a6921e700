#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "librdkafka.h"
#include "position_record.h"
#include "properties.h"

namespace walpost::kafka {

/// Reads one slot's position from the topic of positions: all of its one partition, read_committed,
/// with a consumer of its own and no group. One thread; for one reading.
///
/// The topic is shared: behind an open transaction of whomever, committed records can't be read
/// yet. The broker tells where the log ends, so that this is known.
class PositionReader {
 public:
  enum class Extent {
    available,  ///< what can be read now
    all,        ///< everything written before now: open transactions are waited for
  };
  /// Throws relay::SessionFailure(refused) when librdkafka refuses the properties.
  PositionReader(const PropertyMap& user, std::string key, Extent extent);
  /// Takes two seconds at most, whatever librdkafka does.
  ~PositionReader();
  PositionReader(const PositionReader&) = delete;
  PositionReader& operator=(const PositionReader&) = delete;

  /// Goes on for at most about `slice`; true once there is nothing left to read. Throws
  /// relay::SessionFailure(refused): the topic may not be read, or holds what can't be understood.
  bool advance(std::chrono::milliseconds slice);

  /// Once advance() returned true: what was found.
  [[nodiscard]] const std::optional<PositionRecord>& found() const { return found_; }
  /// Nothing written before the reading was out of reach.
  [[nodiscard]] bool complete() const { return next_ >= end_; }
  /// There is no such topic (yet), as far as the broker that answered knows.
  [[nodiscard]] bool topic_missing() const { return topic_missing_; }
  /// What it is waiting for, for messages.
  [[nodiscard]] std::string waiting_for() const;

 private:
  enum class Stage { asking, reading, done };
  bool ask(std::chrono::milliseconds slice);
  void start_reading(std::int64_t end);
  bool read(std::chrono::milliseconds slice);
  void take(const rd_kafka_message_t& message);
  void learn_end();

  std::string key_;
  Extent extent_;
  ClientHandle client_;
  TopicHandle topic_;
  Stage stage_ = Stage::asking;
  bool topic_missing_ = false;
  bool consuming_ = false;
  bool end_known_ = false;  // from a fetch, which also counts open transactions
  std::int64_t next_ = 0;   // everything before it was read
  std::int64_t end_ = 0;    // where the log ended
  std::string reason_;      // of the newest question that wasn't answered
  std::optional<PositionRecord> found_;
};

}  // namespace walpost::kafka
