#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <vector>

#include "held_record.h"
#include "walpost/relay/clock.h"

namespace walpost::kafka {

/// Numbers one partition of one topic among those of a producer.
enum class Lane : std::size_t {};

/// Closes a hole in the gapless guarantee. A broker that holds no state of this producer for a
/// partition accepts any first sequence number, and librdkafka may have sent the second batch
/// before the first one's rejection arrives: the later record would become visible without the
/// earlier one. So a partition carries at most one unacknowledged record until its first success;
/// what comes meanwhile is held here, in order, and released by that success.
///
/// Pure: no Kafka, no input or output. One thread. One object for one producer.
class SlowStart {
 public:
  /// Brokers forget an idle producer (producer.id.expiration.ms, a day by default). A partition
  /// that had nothing in flight for this long starts slowly again; it costs one round trip.
  static constexpr std::chrono::minutes idle_limit{1};

  /// Adds the partitions of a topic; the lane of partition p is the returned one plus p.
  Lane add(std::size_t partitions);

  /// Whether a new record of `lane` may be sent now. If not, hold() it.
  [[nodiscard]] bool may_send(Lane lane, relay::Instant now);
  void hold(Lane lane, HeldRecord record);

  void sent(Lane lane);
  void delivered(Lane lane, relay::Instant now);
  /// The lane stays as shut as it was: only a success proves a partition.
  void failed(Lane lane);

  /// A held record whose lane is open now.
  struct Released {
    Lane lane;
    const HeldRecord& record;
  };
  [[nodiscard]] bool has_released() const { return !open_.empty(); }
  /// The next record to send. REQUIRES: has_released(). Valid until pop() or hold().
  [[nodiscard]] Released released() const;
  /// Forgets the record that released() returned, once it was sent.
  void pop();

  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  enum class Phase { unproven, probing, proven };
  struct State {
    Phase phase = Phase::unproven;
    std::size_t unacknowledged = 0;
    relay::Instant last_success{};
    std::list<HeldRecord> backlog;  // a list, because an empty one allocates nothing
  };
  State& at(Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] const State& at(Lane lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

  std::vector<State> lanes_;
  std::deque<Lane> open_;  // lanes that are proven and still have a backlog, oldest first
  std::size_t held_ = 0;
};

/// The lane of `partition` in a topic whose partition 0 has `first`.
[[nodiscard]] constexpr Lane lane_of(Lane first, std::size_t partition) {
  return Lane{static_cast<std::size_t>(first) + partition};
}

}  // namespace walpost::kafka
