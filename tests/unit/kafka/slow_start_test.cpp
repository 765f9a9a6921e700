#include "slow_start.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walpost::kafka {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class SlowStartTest : public testing::Test {
 protected:
  /// Publishes a record with that key, as the sink does: sent at once, or held.
  bool publish(Lane where, const std::string& key) {
    if (!slow_start.may_send(where, now)) {
      slow_start.hold(where,
                      HeldRecord(outbox::Record{"t", key, "v", {}}, relay::Token(1, 1, 0), 0));
      return false;
    }
    slow_start.sent(where);
    return true;
  }
  void deliver(Lane where) { slow_start.delivered(where, now); }
  /// Sends what was released; the keys, in order.
  std::vector<std::string> release() {
    std::vector<std::string> keys;
    while (slow_start.has_released()) {
      const auto [where, record] = slow_start.released();
      std::vector<outbox::Header> headers;
      keys.emplace_back(record.view(headers).key);
      slow_start.sent(where);
      slow_start.pop();
    }
    return keys;
  }

  SlowStart slow_start;
  relay::Instant now{std::chrono::hours{1}};
  Lane lane = slow_start.add(3);
};

using Keys = std::vector<std::string>;

TEST_F(SlowStartTest, OnlyTheFirstRecordOfAPartitionIsSent) {
  EXPECT_TRUE(publish(lane, "a"));
  EXPECT_FALSE(publish(lane, "b"));
  EXPECT_FALSE(publish(lane, "c"));
  EXPECT_EQ(slow_start.held(), 2u);
  EXPECT_FALSE(slow_start.has_released());
}

TEST_F(SlowStartTest, PartitionsStartIndependently) {
  EXPECT_TRUE(publish(lane_of(lane, 0), "a"));
  EXPECT_TRUE(publish(lane_of(lane, 1), "b"));
  EXPECT_TRUE(publish(lane_of(lane, 2), "c"));
}

TEST_F(SlowStartTest, TheFirstSuccessReleasesWhatWasHeldInOrder) {
  publish(lane, "a");
  publish(lane, "b");
  publish(lane, "c");
  deliver(lane);
  EXPECT_EQ(release(), (Keys{"b", "c"}));
  EXPECT_EQ(slow_start.held(), 0u);
}

TEST_F(SlowStartTest, NothingOvertakesWhatIsBeingReleased) {
  publish(lane, "a");
  publish(lane, "b");
  publish(lane, "c");
  deliver(lane);
  slow_start.sent(slow_start.released().lane);
  slow_start.pop();  // "b" went out; the producer's queue is full before "c"
  EXPECT_FALSE(publish(lane, "d"));
  EXPECT_EQ(release(), (Keys{"c", "d"}));
}

TEST_F(SlowStartTest, AProvenPartitionIsFree) {
  publish(lane, "a");
  deliver(lane);
  EXPECT_TRUE(publish(lane, "b"));
  EXPECT_TRUE(publish(lane, "c"));
}

TEST_F(SlowStartTest, AFailureReleasesNothing) {
  publish(lane, "a");
  publish(lane, "b");
  slow_start.failed(lane);
  EXPECT_FALSE(slow_start.has_released());
  EXPECT_FALSE(publish(lane, "c"));
}

TEST_F(SlowStartTest, ASuccessElsewhereReleasesNothing) {
  publish(lane_of(lane, 0), "a");
  publish(lane_of(lane, 0), "b");
  publish(lane_of(lane, 1), "c");
  deliver(lane_of(lane, 1));
  EXPECT_FALSE(slow_start.has_released());
}

TEST_F(SlowStartTest, APartitionLongIdleStartsSlowlyAgain) {
  publish(lane, "a");
  deliver(lane);
  now += SlowStart::idle_limit + seconds{1};
  EXPECT_TRUE(publish(lane, "b"));
  EXPECT_FALSE(publish(lane, "c"));
}

TEST_F(SlowStartTest, APartitionThatWaitsForItsReportIsNotIdle) {
  publish(lane, "a");
  deliver(lane);
  publish(lane, "b");
  now += minutes{10};
  EXPECT_TRUE(publish(lane, "c"));
}

TEST_F(SlowStartTest, LanesOfTopicsDoNotOverlap) {
  const Lane other = slow_start.add(2);
  publish(lane_of(lane, 2), "a");
  EXPECT_TRUE(publish(lane_of(other, 0), "b"));
}

}  // namespace
}  // namespace walpost::kafka
