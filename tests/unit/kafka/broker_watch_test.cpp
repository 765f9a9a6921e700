#include "broker_watch.h"

#include <gtest/gtest.h>

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const relay::Instant start{std::chrono::hours{1}};

TEST(BrokerWatch, SaysThatTroubleBeginsWithTheReason) {
  BrokerWatch watch;
  EXPECT_EQ(watch.trouble(false, "k1: Connection refused", start),
            "kafka broker trouble: k1: Connection refused");
}

TEST(BrokerWatch, SaysAtMostOneLineAMinute) {
  BrokerWatch watch;
  int lines = 0;
  for (int i = 0; i < 1800; ++i) {
    const auto now = start + i * milliseconds{100};
    lines += watch.trouble(false, "refused", now).has_value() ? 1 : 0;
  }
  EXPECT_EQ(lines, 3);  // at 0, 1 and 2 minutes of the three
}

TEST(BrokerWatch, ReminderSaysHowLongItLasts) {
  BrokerWatch watch;
  (void)watch.trouble(false, "refused", start);
  EXPECT_EQ(watch.trouble(false, "refused", start + seconds{60}),
            "kafka broker trouble for 60 s: refused");
}

TEST(BrokerWatch, SaysAtOnceThatAllBrokersAreDownAndWhy) {
  BrokerWatch watch;
  (void)watch.trouble(false, "k1: Connection refused", start);
  EXPECT_EQ(watch.trouble(true, "1/1 brokers are down", start + milliseconds{1}),
            "kafka brokers unreachable: k1: Connection refused");
  EXPECT_FALSE(watch.trouble(true, "1/1 brokers are down", start + seconds{2}));
}

TEST(BrokerWatch, AnOldErrorIsNotTheReasonThatAllAreDown) {
  BrokerWatch watch;
  (void)watch.trouble(false, "k1: Connection refused", start);
  EXPECT_EQ(watch.trouble(true, "1/1 brokers are down", start + seconds{30}),
            "kafka brokers unreachable: 1/1 brokers are down");
}

TEST(BrokerWatch, SaysOnceThatTheClusterIsBack) {
  BrokerWatch watch;
  (void)watch.trouble(true, "1/1 brokers are down", start);
  EXPECT_EQ(watch.contact(start + seconds{42}), "kafka brokers reachable again after 42 s");
  EXPECT_FALSE(watch.contact(start + seconds{43}));
}

TEST(BrokerWatch, AnotherBrokersAnswerDoesNotEndOneBrokersTrouble) {
  BrokerWatch watch;
  (void)watch.trouble(false, "k1: refused", start);
  EXPECT_FALSE(watch.contact(start + seconds{1}));
  EXPECT_FALSE(watch.trouble(false, "k1: refused", start + seconds{2}));
}

TEST(BrokerWatch, IsSilentWithoutTrouble) {
  BrokerWatch watch;
  EXPECT_FALSE(watch.contact(start));
}

}  // namespace
}  // namespace walpost::kafka
