// Crashes, outages and stops on real PostgreSQL and Kafka: nothing lost, order kept, repeats
// contiguous.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "integration/outbox_world.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

using std::chrono::steady_clock;

// A moment chosen by chance has no event to wait for.
void let_pass(milliseconds span) {
  static_cast<void>(eventually([] { return false; }, Deadline::in(span)));
}

std::string walsender_pid(OutboxWorld& world) {
  return world.server.value(
      "select coalesce(active_pid, 0) from pg_replication_slots where slot_name = 'walpost'");
}

// The writers end, and a last instance publishes what is left.
void publish_the_rest(OutboxWorld& world, Process& writers) {
  ASSERT_EQ(writers.wait(Deadline::in(milliseconds(60000))), exited(0));
  Walpost last = world.start();
  last.wait_until_streaming();
  ASSERT_TRUE(world.wait_until_confirmed()) << last.log();
  EXPECT_EQ(last.stop(), exited(0));
}

TEST(Faults, KilledAtTwentyRandomMomentsUnderLoadNothingIsLostOrReordered) {
  OutboxWorld world(KafkaBroker::shared());
  std::mt19937 random(20261130);
  const auto writers = world.start_writers(4, 25);
  for (int round = 0; round < 20; ++round) {
    Walpost walpost = world.start();
    walpost.wait_until_streaming();
    let_pass(milliseconds(random() % 1000));
    walpost.kill();
  }
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world, *writers));
  const Comparison comparison = world.compare();
  std::cout << "20 kills: " << comparison << "\n";
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
  EXPECT_GT(comparison.committed, 5000u);
}

// What a kill may have published twice: what had been acknowledged in the last 100 ms, whose
// confirmation was not out yet, and what was in flight.
TEST(Faults, KilledAtFullLoadOnlyTheNewestEventsAreRepeated) {
  OutboxWorld world(KafkaBroker::shared());
  const auto writers = world.start_writers(4, 11);
  std::vector<milliseconds> kills;
  for (int round = 0; round < 6; ++round) {
    Walpost walpost = world.start();
    walpost.wait_until_streaming();
    let_pass(milliseconds(1200));
    kills.push_back(std::chrono::duration_cast<milliseconds>(
        std::chrono::system_clock::now().time_since_epoch()));
    walpost.kill();
  }
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world, *writers));

  // A repeat's first appearance is as old as its timestamp says, which is the producer's.
  std::map<std::string, milliseconds> first_seen;
  milliseconds oldest{0};
  std::size_t repeated = 0;
  KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
      .each_to_end(Deadline::in(milliseconds(60000)), [&](const RecordView& record) {
        std::string id;
        for (const auto& [name, value] : record.headers)
          if (name == "messageId") id = value.value();
        const auto [seen, is_new] = first_seen.emplace(id, record.timestamp);
        if (is_new) return;
        ++repeated;
        const auto kill = std::lower_bound(kills.begin(), kills.end(), seen->second);
        ASSERT_NE(kill, kills.end()) << "repeated without a kill";
        oldest = std::max(oldest, *kill - seen->second);
      });
  std::cout << "8 kills at full load: " << first_seen.size() << " events, " << repeated
            << " repeats, the oldest published " << oldest.count() << " ms before its kill\n";
  EXPECT_GT(first_seen.size(), 5000u);
  // 100 ms, and as much again for what was in flight while four writers keep both cores busy.
  EXPECT_LT(oldest, milliseconds(200));
}

class BrokerOutage : public ::testing::TestWithParam<std::string> {};

// With and without reading being paused by the limits.
TEST_P(BrokerOutage, OfThreeSenderTimeoutsKeepsOneWalsenderAndLosesNothing) {
  KafkaBroker broker;
  OutboxWorld world(broker, {.postgres = {.settings = {{"wal_sender_timeout", "2s"}}}});
  Walpost walpost = world.start({"limits.in_flight_events=" + GetParam()});
  world.write(10);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const std::string pid = walsender_pid(world);
  broker.stop();
  world.write(20000);
  const auto outage = Deadline::in(milliseconds(6500));
  while (!outage.passed()) {
    ASSERT_EQ(walsender_pid(world), pid) << walpost.log();
    let_pass(milliseconds(200));
  }
  EXPECT_LT(walpost.process().peak_resident_kib(), 128 * 1024);
  broker.start();
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walsender_pid(world), pid);
  EXPECT_EQ(walpost.stop(), exited(0));
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

INSTANTIATE_TEST_SUITE_P(Limits, BrokerOutage, ::testing::Values("500", "100000"),
                         [](const auto& param) { return "InFlight" + param.param; });

class FastShutdown : public ::testing::TestWithParam<std::string> {};

TEST_P(FastShutdown, OfPostgresDoesNotWaitForAnUnreachableBroker) {
  KafkaBroker broker;
  OutboxWorld world(broker);
  Walpost walpost = world.start({"limits.in_flight_events=" + GetParam()});
  world.write(10);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  broker.stop();
  world.write(5000);
  ASSERT_NE(walsender_pid(world), "0");
  const auto before = steady_clock::now();
  world.server.stop(StopMode::fast, Deadline::in(milliseconds(30000)));
  const auto took = steady_clock::now() - before;
  std::cout << "fast stop with the broker down, limit " << GetParam() << ": "
            << std::chrono::duration_cast<milliseconds>(took).count() << " ms\n";
  EXPECT_LT(took, std::chrono::seconds(5)) << walpost.log();
  EXPECT_TRUE(walpost.process().running());
  world.server.start();
  broker.start();
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
}

INSTANTIATE_TEST_SUITE_P(Limits, FastShutdown, ::testing::Values("500", "100000"),
                         [](const auto& param) { return "InFlight" + param.param; });

TEST(Faults, AfterAnImmediateStopOfPostgresTheRelayReconnectsAndLosesNothing) {
  OutboxWorld world(KafkaBroker::shared(), {.postgres = {.settings = {}, .durable = true}});
  Walpost walpost = world.start();
  for (int round = 0; round < 3; ++round) {
    const auto writers = world.start_writers(4, 5);
    let_pass(milliseconds(1500));
    world.server.stop(StopMode::immediate);
    static_cast<void>(writers->wait(Deadline::in(milliseconds(20000))));
    world.server.start();
  }
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_TRUE(walpost.process().running()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const Comparison comparison = world.compare();
  std::cout << "3 immediate stops: " << comparison << "\n";
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
  EXPECT_GT(comparison.committed, 1000u);
}

TEST(Faults, AStopUnderLoadIsCleanConfirmsWhatItPublishedAndTheNextStartRepeatsNothing) {
  OutboxWorld world(KafkaBroker::shared());
  const auto writers = world.start_writers(4, 12);
  for (int round = 0; round < 5; ++round) {
    Walpost walpost = world.start();
    walpost.wait_until_streaming();
    let_pass(milliseconds(1500));
    EXPECT_EQ(walpost.stop(Deadline::in(milliseconds(26000))), exited(0)) << walpost.log();
    const std::string confirmed = world.confirmed_flush_lsn();
    std::string committed = "select count(*) from pg_logical_slot_peek_changes('oracle', '";
    committed += confirmed;
    committed +=
        "', null, 'include-xids', '0', 'skip-empty-xacts', '1', 'include-timestamp', '0') "
        "where data like 'table public.outbox: INSERT:%' and lsn < '";
    committed += confirmed + "'";
    const std::string committed_before = world.server.value(committed);
    EXPECT_EQ(std::to_string(world.compare().published), committed_before);
  }
  ASSERT_NO_FATAL_FAILURE(publish_the_rest(world, *writers));
  const Comparison comparison = world.compare();
  std::cout << "5 clean stops under load: " << comparison << "\n";
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

TEST(Faults, AnIdleOutboxBesideABusyTableDoesNotPinItsWal) {
  OutboxWorld world(KafkaBroker::shared(), {.postgres = {.settings = {{"max_wal_size", "128MB"}}}});
  Walpost walpost = world.start();
  walpost.wait_until_streaming();
  world.server.exec(
      "create table busy(filler text); alter table busy alter filler set storage external");
  const std::string start = world.server.value("select pg_current_wal_lsn()");
  for (int i = 0; i < 10; ++i)
    world.server.exec(
        "insert into busy select repeat('unrelated ', 6500) from generate_series(1, 850)");
  const long written = std::stol(
      world.server.value("select (pg_current_wal_lsn() - '" + start + "'::pg_lsn)::bigint"));
  EXPECT_GT(written, 500L << 20);
  const auto retained = [&] {
    return std::stol(world.server.value(
        "select (pg_current_wal_lsn() - restart_lsn)::bigint from pg_replication_slots where "
        "slot_name = 'walpost'"));
  };
  EXPECT_TRUE(eventually([&] { return retained() < 64L << 20; }, Deadline::in(milliseconds(40000)),
                         milliseconds(200)))
      << retained() << " bytes retained\n"
      << walpost.log();
  std::cout << "idle outbox: " << (written >> 20) << " MiB of other WAL, " << (retained() >> 20)
            << " MiB retained\n";
  EXPECT_EQ(world.compare().published, 0u);
  EXPECT_EQ(walpost.stop(), exited(0));
}

}  // namespace
}  // namespace walpost::test
