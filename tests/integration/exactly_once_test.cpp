// delivery.guarantee: exactly_once. A reader of committed records sees exactly the committed rows,
// whatever is killed, stopped or put to sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>

#include "integration/outages.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

const std::string exactly_once = "delivery.guarantee=exactly_once";

// Positions are kept under the system's identifier.
WorldOptions own_system(std::map<std::string, std::string> settings = {}, bool durable = false) {
  return {.postgres = {.settings = std::move(settings), .durable = durable, .own_system = true}};
}

// A moment chosen by chance has no event to wait for.
void let_pass(milliseconds span) {
  static_cast<void>(eventually([] { return false; }, Deadline::in(span)));
}

int kills_wanted() {
  const char* wanted = std::getenv("WALPOST_TEST_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 8;
}

// The writers end, and a last instance publishes what is left.
void publish_the_rest(OutboxWorld& world) {
  Walpost last = world.start({exactly_once});
  last.wait_until_streaming();
  ASSERT_TRUE(world.wait_until_confirmed()) << last.log();
  EXPECT_EQ(last.stop(), exited(0)) << last.log();
}

// A commit returns before the last of its records can be read.
Comparison compare(OutboxWorld& world) {
  Comparison comparison;
  static_cast<void>(eventually(
      [&] {
        comparison = world.compare();
        return comparison.lost == 0;
      },
      Deadline::in(milliseconds(5000))));
  return comparison;
}

TEST(ExactlyOnce, KilledAtRandomMomentsUnderLoadEveryRowIsSeenOnceAndInOrder) {
  OutboxWorld world(KafkaBroker::shared(), own_system());
  std::mt19937 random(20261201);
  std::unique_ptr<Process> writers;
  const int kills = kills_wanted();
  for (int round = 0; round < kills; ++round) {
    if (!writers || !writers->running()) writers = world.start_writers(4, 12);
    Walpost walpost = world.start({exactly_once});
    walpost.wait_until_streaming();
    let_pass(milliseconds(random() % 1500));
    walpost.kill();
  }
  ASSERT_EQ(writers->wait(Deadline::in(milliseconds(60000))), exited(0));
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world));
  const Comparison comparison = compare(world);
  std::cout << kills << " kills: " << comparison << "\n";
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
  EXPECT_GT(comparison.committed, 1000u);
}

// Each start finds the transaction published in part, and goes on behind the last event.
TEST(ExactlyOnce, ATransactionOf100000RowsCutByKillsIsSeenOnce) {
  OutboxWorld world(KafkaBroker::shared(), own_system());
  world.server.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) select 'order', "
      "'order-' || (g % 1000), 'E', jsonb_build_object('n', g) from generate_series(1, 100000) g");
  KafkaReader reader(KafkaBroker::shared().bootstrap(), world.topic);
  std::size_t seen = 0;
  for (int round = 0; round < 3; ++round) {
    Walpost walpost = world.start({exactly_once, "limits.in_flight_events=5000"});
    const std::size_t some = reader.read(1, Deadline::in(milliseconds(20000))).size();
    ASSERT_EQ(some, 1u) << walpost.log();
    let_pass(milliseconds(150));
    walpost.kill();
    seen = some + reader.read_to_end(Deadline::in(milliseconds(20000))).size() + seen;
  }
  EXPECT_LT(seen, 100000u) << "it was over before the last kill: the test shows nothing";
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world));
  const Comparison comparison = compare(world);
  EXPECT_EQ(comparison.committed, 100000u);
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

// It wakes with events in its queue and perhaps an open transaction, while another instance has
// gone on from where it was.
TEST(ExactlyOnce, AnInstanceThatSleptThroughTheTakeoverDoublesNothingWhenItWakes) {
  OutboxWorld world(KafkaBroker::shared(), own_system({{"wal_sender_timeout", "2s"}}));
  Walpost first = world.start({exactly_once});
  first.wait_until_streaming();
  Walpost second = world.start({exactly_once});
  ASSERT_TRUE(second.process().wait_for_line("standing by", Deadline::in(milliseconds(10000))));
  const auto writers = world.start_writers(4, 9);
  ASSERT_NO_FATAL_FAILURE(sleep_through_a_takeover(world, first, second));
  ASSERT_NO_FATAL_FAILURE(sleep_through_a_takeover(world, second, first));
  ASSERT_EQ(writers->wait(Deadline::in(milliseconds(60000))), exited(0));
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log() << second.log();
  EXPECT_EQ(second.stop(), exited(0));
  EXPECT_EQ(first.stop(), exited(0));
  const Comparison comparison = compare(world);
  std::cout << "two sleepers: " << comparison << "\n";
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
  EXPECT_GT(comparison.committed, 1000u);
}

// The slot goes back; a process that has just started learns from Kafka what is published.
TEST(ExactlyOnce, ACrashOfPostgresThatTakesTheSlotBackDoublesNothing) {
  OutboxWorld world(KafkaBroker::shared(), own_system({}, true));
  for (int round = 0; round < 2; ++round) {
    Walpost walpost = world.start({exactly_once});
    ASSERT_NO_FATAL_FAILURE(take_the_slot_back_by_a_crash(world, walpost));
  }
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world));
  const Comparison comparison = compare(world);
  EXPECT_EQ(comparison.committed, 600u);
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

TEST(ExactlyOnce, AnImmediateStopOfPostgresUnderLoadDoublesNothing) {
  OutboxWorld world(KafkaBroker::shared(), own_system({}, true));
  Walpost walpost = world.start({exactly_once});
  for (int round = 0; round < 2; ++round) {
    const auto writers = world.start_writers(4, 4);
    let_pass(milliseconds(1500));
    world.server.stop(StopMode::immediate);
    static_cast<void>(writers->wait(Deadline::in(milliseconds(20000))));
    world.server.start();
  }
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const Comparison comparison = compare(world);
  std::cout << "2 immediate stops: " << comparison << "\n";
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

/// By how long a transaction may take, in ms: longer than the outage, or not.
class ExactlyOnceOutage : public ::testing::TestWithParam<std::string> {};

TEST_P(ExactlyOnceOutage, OfTheBrokerEndsNothingAndDoublesNothing) {
  KafkaBroker broker;
  OutboxWorld world(broker, own_system({{"wal_sender_timeout", "2s"}}));
  Walpost walpost = world.start({exactly_once, "kafka.transaction.timeout.ms=" + GetParam()});
  world.write(10);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const auto writers = world.start_writers(2, 6);
  let_pass(milliseconds(500));
  broker.stop();
  let_pass(milliseconds(3500));
  broker.start();
  ASSERT_EQ(writers->wait(Deadline::in(milliseconds(60000))), exited(0));
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_TRUE(walpost.process().running());
  EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  const Comparison comparison = compare(world);
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

INSTANTIATE_TEST_SUITE_P(Transactions, ExactlyOnceOutage, ::testing::Values("60000", "2000"),
                         [](const auto& timeout) { return "Of" + timeout.param + "Ms"; });

TEST(ExactlyOnce, AnEventThatIsTooLargeStopsItBehindTheEventsBeforeIt) {
  WorldOptions options = own_system();
  options.topic_configs = {{"max.message.bytes", "20000"}};
  OutboxWorld world(KafkaBroker::shared(), std::move(options));
  world.write(20);
  world.server.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) values ('order', "
      "'order-1', 'TooLarge', jsonb_build_object('filler', repeat('x', 50000)))");
  world.write(20);
  for (int start = 0; start < 2; ++start) {
    Walpost walpost = world.start({exactly_once});
    EXPECT_EQ(walpost.wait(), exited(4)) << walpost.log();
    EXPECT_EQ(walpost.times_logged("too large"), 1u) << walpost.log();
  }
  KafkaReader reader(KafkaBroker::shared().bootstrap(), world.topic);
  EXPECT_EQ(reader.read(20, Deadline::in(milliseconds(20000))).size(), 20u);
  EXPECT_EQ(reader.read_to_end(Deadline::in(milliseconds(20000))).size(), 0u);
}

TEST(ExactlyOnce, AStopUnderLoadIsCleanAndConfirmsWhatItPublished) {
  OutboxWorld world(KafkaBroker::shared(), own_system());
  const auto writers = world.start_writers(4, 5);
  for (int round = 0; round < 2; ++round) {
    Walpost walpost = world.start({exactly_once});
    walpost.wait_until_streaming();
    let_pass(milliseconds(1500));
    EXPECT_EQ(walpost.stop(Deadline::in(milliseconds(26000))), exited(0)) << walpost.log();
  }
  ASSERT_EQ(writers->wait(Deadline::in(milliseconds(60000))), exited(0));
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world));
  const Comparison comparison = compare(world);
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

}  // namespace
}  // namespace walpost::test
