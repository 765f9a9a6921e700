// Two instances on one slot: the slot is the lease, the second waits and takes over (R10).
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iostream>

#include "integration/outages.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

using std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr auto takeover_limit = std::chrono::seconds(2);

void wait_until_standing_by(Walpost& walpost) {
  ASSERT_TRUE(walpost.process().wait_for_line("standing by", Deadline::in(milliseconds(10000))))
      << walpost.log();
}

class Takeover : public ::testing::TestWithParam<std::string> {
 protected:
  OutboxWorld world{KafkaBroker::shared()};
  KafkaReader reader{KafkaBroker::shared().bootstrap(), world.topic};

  void end(Walpost& walpost) {
    if (GetParam() == "Killed") return walpost.kill();
    EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  }
};

TEST_P(Takeover, TakesUnderTwoSecondsFromTheEndOfOneToTheFirstRecordOfTheOther) {
  Walpost first = world.start();
  first.wait_until_streaming();
  Walpost second = world.start();
  wait_until_standing_by(second);
  world.write(100);
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log();
  ASSERT_EQ(reader.read(100, Deadline::in(milliseconds(10000))).size(), 100u);

  end(first);
  const auto ended = steady_clock::now();
  world.write(1);
  ASSERT_EQ(reader.read(1, Deadline::in(milliseconds(10000))).size(), 1u) << second.log();
  const auto took = steady_clock::now() - ended;
  std::cout << "takeover, " << GetParam() << ": " << Milliseconds(took).count() << " ms\n";
  EXPECT_LT(took, takeover_limit);

  ASSERT_TRUE(world.wait_until_confirmed()) << second.log();
  EXPECT_EQ(second.stop(), exited(0));
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

INSTANTIATE_TEST_SUITE_P(Standby, Takeover, ::testing::Values("Stopped", "Killed"),
                         [](const auto& one) { return one.param; });

// A process that sleeps for longer than wal_sender_timeout wakes up with records in its producer's
// queue, while another instance has gone on. What it still sends are repeats; none may come before
// an earlier event of its key.
TEST(Standby, AnInstanceThatSleptThroughTheTakeoverBreaksNoOrderWhenItWakes) {
  OutboxWorld world(KafkaBroker::shared(),
                    {.postgres = {.settings = {{"wal_sender_timeout", "2s"}}}});
  Walpost first = world.start();
  first.wait_until_streaming();
  Walpost second = world.start();
  wait_until_standing_by(second);
  const auto writers = world.start_writers(4, 12);
  ASSERT_NO_FATAL_FAILURE(sleep_through_a_takeover(world, first, second));
  ASSERT_NO_FATAL_FAILURE(sleep_through_a_takeover(world, second, first));
  ASSERT_EQ(writers->wait(Deadline::in(milliseconds(60000))), exited(0));
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log() << second.log();
  EXPECT_EQ(second.stop(), exited(0));
  EXPECT_EQ(first.stop(), exited(0));
  const Comparison comparison = world.compare();
  std::cout << "two sleepers: " << comparison << "\n";
  EXPECT_EQ(comparison.lost, 0u);
  EXPECT_EQ(comparison.foreign, 0u);
  EXPECT_EQ(comparison.out_of_order, 0u);
  EXPECT_EQ(comparison.wrong_bytes, 0u);
  EXPECT_GT(comparison.committed, 1000u);
}

}  // namespace
}  // namespace walpost::test
