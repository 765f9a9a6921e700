// The main path on majors of PostgreSQL other than the machine's own, and what is new in some.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <iostream>

#include "integration/outbox_world.h"

namespace walpost::test {
namespace {

using testing::HasSubstr;

constexpr int refused = 3;
constexpr milliseconds fast_stop_limit{5000};

Deadline soon() {
  return Deadline::in(milliseconds(30000));
}

WorldOptions of_major(int major, std::map<std::string, std::string> settings = {}) {
  return {.postgres = {.settings = std::move(settings), .binaries = postgres_binaries_of(major)}};
}

class EveryMajor : public testing::TestWithParam<int> {};

TEST_P(EveryMajor, PublishesConcurrentWritersInCommitOrderThroughAKillAStopAndAFastShutdown) {
  OutboxWorld world(KafkaBroker::shared(), of_major(GetParam()));
  ASSERT_EQ(world.server.value("show server_version_num").substr(0, 2), std::to_string(GetParam()));
  Walpost killed = world.start();
  killed.wait_until_streaming();
  const auto writers = world.start_writers(4, 2);
  ASSERT_TRUE(eventually(
      [&] { return world.server.value("select count(*) > 300 from outbox") == "t"; }, soon()));
  killed.kill();
  Walpost walpost = world.start();
  EXPECT_EQ(writers->wait(soon()), exited(0));
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  const Comparison after_stop = world.compare();
  EXPECT_TRUE(after_stop.at_least_once()) << after_stop;

  Walpost stopped_under = world.start();
  stopped_under.wait_until_streaming();
  world.write(500);
  const auto before = std::chrono::steady_clock::now();
  world.server.stop(StopMode::fast);
  EXPECT_LT(std::chrono::steady_clock::now() - before, fast_stop_limit);
  EXPECT_TRUE(stopped_under.process().running()) << stopped_under.log();
  stopped_under.kill();
  world.server.start();
  Walpost last = world.start();
  ASSERT_TRUE(world.wait_until_confirmed()) << last.log();
  EXPECT_EQ(last.stop(), exited(0)) << last.log();
  const Comparison comparison = world.compare();
  std::cout << "PostgreSQL " << world.server.value("show server_version") << ": " << comparison
            << "\n";
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
  EXPECT_GT(comparison.committed, 800u);
}

TEST_P(EveryMajor, CheckPasses) {
  OutboxWorld world(KafkaBroker::shared(), of_major(GetParam()));
  const Finished check = Walpost::command("check", world.arguments());
  EXPECT_EQ(check.status, exited(0)) << check.out << check.err;
}

TEST_P(EveryMajor, APublicationDroppedWhileStreamingEndsInARefusalAndNothingIsSkipped) {
  OutboxWorld world(KafkaBroker::shared(), of_major(GetParam()));
  Walpost walpost = world.start();
  walpost.wait_until_streaming();
  world.write(10);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  world.server.exec("drop publication walpost");
  const std::string dropped = world.server.value("select pg_current_wal_lsn()");
  world.write(10);
  EXPECT_EQ(walpost.wait(), exited(refused)) << walpost.log();
  EXPECT_THAT(walpost.log(), HasSubstr("publication walpost did not exist yet where slot"));
  // From 18 on the server only warns, skips the rows and goes on.
  EXPECT_EQ(walpost.log().find("skipped loading publication") != std::string::npos,
            GetParam() >= 18)
      << walpost.log();
  EXPECT_EQ(world.server.value("select confirmed_flush_lsn <= '" + dropped +
                               "' from pg_replication_slots where slot_name = 'walpost'"),
            "t");
  const Comparison comparison = world.compare();
  EXPECT_EQ(comparison.published, 10u) << comparison;
}

void expect_lost_slot_refused(OutboxWorld& world, const std::string& reason) {
  Walpost walpost = world.start();
  EXPECT_EQ(walpost.wait(), exited(refused)) << walpost.log();
  EXPECT_THAT(walpost.log(), HasSubstr("slot walpost: it is lost (" + reason));
  EXPECT_THAT(walpost.log(), HasSubstr("pg_drop_replication_slot('walpost')"));
}

TEST_P(EveryMajor, ALostSlotIsRefusedWithItsReasonAndRepair) {
  OutboxWorld world(KafkaBroker::shared(), of_major(GetParam(), {{"max_slot_wal_keep_size", "1MB"},
                                                                 {"max_wal_size", "32MB"},
                                                                 {"min_wal_size", "32MB"}}));
  world.server.exec("create table filler(a text)");
  ASSERT_TRUE(eventually(
      [&] {
        world.server.exec("insert into filler values ('x')");
        world.server.exec("select pg_switch_wal()");
        world.server.exec("checkpoint");
        return world.server.value(
                   "select wal_status from pg_replication_slots where slot_name = 'walpost'") ==
               "lost";
      },
      soon()));
  expect_lost_slot_refused(world, GetParam() >= 17 ? "wal_removed" : "WAL removed");
}

TEST(PostgreSQL18, ASlotLostForIdlenessIsRefusedWithItsReasonAndRepair) {
  OutboxWorld world(KafkaBroker::shared(), of_major(18, {{"idle_replication_slot_timeout", "1s"}}));
  world.write(3);
  ASSERT_TRUE(eventually(
      [&] {
        world.server.exec("checkpoint");
        return world.server.value(
                   "select coalesce(invalidation_reason, '') from pg_replication_slots where "
                   "slot_name = 'walpost'") == "idle_timeout";
      },
      soon()));
  expect_lost_slot_refused(world, "idle_timeout");
}

INSTANTIATE_TEST_SUITE_P(PostgreSQL, EveryMajor, testing::Values(13, 14, 16, 17, 18),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace walpost::test
