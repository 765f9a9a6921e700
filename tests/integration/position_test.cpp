// A position kept outside the slot: what it saves from repeating, and what it finds out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "integration/outages.h"
#include "support/kafka_reader.h"
#include "support/temp_dir.h"

namespace walpost::test {
namespace {

constexpr int refused = 3;

/// In a file, or in the topic walpost.positions under the system's identifier.
class PositionKept : public ::testing::TestWithParam<std::string> {
 protected:
  TempDir folder;
  const std::filesystem::path file = folder.path() / "position";
  OutboxWorld world{KafkaBroker::shared(),
                    {.postgres = {.settings = {}, .durable = true, .own_system = in_kafka()}}};

  [[nodiscard]] static bool in_kafka() { return GetParam() == "Kafka"; }
  [[nodiscard]] std::string setting() const {
    return in_kafka() ? "position=kafka" : "position=file:" + file.string();
  }
  [[nodiscard]] Walpost start() const { return world.start({setting()}); }
  /// What messages call it.
  [[nodiscard]] std::string place() const {
    return in_kafka() ? "topic walpost.positions" : file.string();
  }
  /// Does what messages say to do: "delete FILE", or "run COMMAND" in a shell.
  static void forget_as_told(const std::string& mend) {
    const std::string command = std::regex_replace(
        std::regex_replace(mend, std::regex("^delete "), "rm "), std::regex("^run "), "");
    const Finished done = run_to_end({"sh", "-c", command}, Deadline::in(milliseconds(20000)));
    ASSERT_EQ(done.status, exited(0)) << command << done.err;
  }
  /// The mend of a refusal, up to what follows it.
  static std::string told_to(const std::string& log, const std::string& what_follows) {
    std::smatch mend;
    if (!std::regex_search(log, mend, std::regex("((delete|run echo) [^\\n]*?)" + what_follows)))
      throw std::runtime_error("nothing is said of the position: " + log);
    return mend[1];
  }

  void publish_and_stop(int count) {
    Walpost walpost = start();
    world.write(count);
    ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
    EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  }
  void expect_refusal_that_says(const std::string& what) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      Walpost walpost = start();
      EXPECT_EQ(walpost.wait(), exited(refused));
      EXPECT_TRUE(std::regex_search(walpost.log(), std::regex(what))) << walpost.log();
    }
  }
};

// The server forgets confirmations that no checkpoint has written; the process is a new one, so
// that only the file knows.
TEST_P(PositionKept, AfterACrashOfTheServerTheNextProcessRepeatsNothing) {
  for (int round = 0; round < 3; ++round) {
    Walpost walpost = start();
    ASSERT_NO_FATAL_FAILURE(take_the_slot_back_by_a_crash(world, walpost));
  }
  publish_and_stop(10);
  const Comparison comparison = world.compare();
  EXPECT_EQ(comparison.committed, 910u);
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

TEST_P(PositionKept, ASlotThatWasAdvancedWhileNothingRanIsRefusedWithTheGap) {
  publish_and_stop(10);
  world.write(10);
  world.server.exec("select pg_replication_slot_advance('walpost', pg_current_wal_lsn())");
  expect_refusal_that_says("moved by somebody else.*kept in " + place() +
                           ".*[0-9]+ bytes of WAL were skipped");
  WalpostOptions options = world.arguments({setting()});
  const Finished check = Walpost::command("check", options);
  EXPECT_EQ(check.status, exited(1));
  EXPECT_NE(check.out.find("moved by somebody else"), std::string::npos) << check.out;
  Walpost refused_again = start();
  EXPECT_EQ(refused_again.wait(), exited(refused));
  forget_as_told(told_to(refused_again.log(), " and start walpost again"));
  publish_and_stop(10);
  EXPECT_EQ(world.compare().lost, 10u);  // those that the operator skipped, no other
}

TEST_P(PositionKept, ASlotThatWasMadeAnewIsRefusedWithTheGap) {
  publish_and_stop(10);
  world.write(10);
  world.server.exec("select pg_drop_replication_slot('walpost')");
  world.server.exec("select pg_create_logical_replication_slot('walpost', 'pgoutput')");
  expect_refusal_that_says("made anew.*bytes of WAL were skipped");
}

TEST_P(PositionKept, ABackupRestoredInPlaceIsRefusedWithTheGap) {
  const std::filesystem::path data = world.server.data_directory();
  const std::filesystem::path backup = data.parent_path() / "backup";
  const auto copy = [](const std::filesystem::path& from, const std::filesystem::path& to) {
    const Finished copied =
        run_to_end({"cp", "-a", from.string(), to.string()}, Deadline::in(milliseconds(60000)));
    ASSERT_EQ(copied.status, exited(0)) << copied.err;
  };
  publish_and_stop(10);
  world.server.stop(StopMode::fast);
  copy(data, backup);
  world.server.start();
  publish_and_stop(10);
  world.server.stop(StopMode::fast);
  std::filesystem::remove_all(data);
  copy(backup, data);
  world.server.start();
  expect_refusal_that_says(
      "WAL ends at [0-9A-F/]+, [0-9]+ bytes before [0-9A-F/]+, kept in .*"
      "restored to an earlier state.*" +
      std::string(in_kafka() ? "kcat" : "delete " + file.string()));
}

// The same data and the same system, but what was written since may be something else.
TEST_P(PositionKept, AServerThatBeganAnotherTimelineIsRefusedUntilThePositionIsGivenUp) {
  publish_and_stop(10);
  world.server.stop(StopMode::fast);
  // Recovery from an archive that holds nothing: it ends where the WAL ends, on a new timeline.
  const std::ofstream signal(world.server.data_directory() / "recovery.signal");
  ASSERT_TRUE(signal.is_open());
  world.server.set("restore_command", "false");
  world.server.start();
  const auto promoted = [&] { return world.server.value("select not pg_is_in_recovery()") == "t"; };
  ASSERT_TRUE(eventually(promoted, Deadline::in(milliseconds(30000))));
  world.write(10);
  expect_refusal_that_says("timeline 2, formerly .* timeline 1");
  Walpost refused_again = start();
  EXPECT_EQ(refused_again.wait(), exited(refused));
  forget_as_told(told_to(refused_again.log(), " and start walpost again"));
  publish_and_stop(10);
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
}

/// What only a file can be.
class PositionFileKept : public PositionKept {};

TEST_P(PositionFileKept, IsRefusedWhereItBelongsToAnotherSlot) {
  publish_and_stop(10);
  world.server.exec("select pg_copy_logical_replication_slot('walpost', 'other')");
  Walpost walpost = world.start({"position=file:" + file.string(), "postgres.slot=other"});
  EXPECT_EQ(walpost.wait(), exited(refused));
  EXPECT_TRUE(std::regex_search(walpost.log(), std::regex("is that of slot walpost, not of other")))
      << walpost.log();
}

TEST_P(PositionKept, AStandbyGoesOnWithTheFileOfTheOneBefore) {
  Walpost first = start();
  first.wait_until_streaming();
  Walpost second = start();
  ASSERT_TRUE(second.process().wait_for_line("standing by", Deadline::in(milliseconds(10000))));
  world.write(100);
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log();
  EXPECT_EQ(first.stop(), exited(0));
  world.write(100);
  ASSERT_TRUE(world.wait_until_confirmed()) << second.log();
  EXPECT_EQ(second.stop(), exited(0));
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

TEST_P(PositionKept, SkippingAnEventTakesWhatItsMessageSays) {
  world.server.exec("alter table outbox alter aggregate_id drop not null");
  const std::string insert =
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) values ";
  world.server.exec(insert + "('order', null, 'E', '{}')");
  world.write(10);
  Walpost stopped = start();
  EXPECT_EQ(stopped.wait(), exited(4));
  std::smatch mend;
  const std::string log = stopped.log();
  ASSERT_TRUE(std::regex_search(log, mend,
                                std::regex("(SELECT pg_replication_slot_advance\\([^)]*\\)), and")))
      << log;
  world.server.exec(mend[1]);
  forget_as_told(told_to(log, "\n"));
  Walpost walpost = start();
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read_to_end(Deadline::in(milliseconds(20000)));
  EXPECT_EQ(records.size(), 10u);
}

// The standby has read the file and is held up while it looks at the server; meanwhile the other
// goes on and ends. What it read is of the past, and no reason to refuse the slot.
TEST_P(PositionKept, AStandbyThatReadTheFileTooEarlyLooksAgain) {
  Walpost first = start();
  first.wait_until_streaming();
  world.write(1);
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log();
  Walpost second = start();
  ASSERT_TRUE(second.process().wait_for_line("standing by", Deadline::in(milliseconds(10000))));
  Session lock = world.server.connect();
  lock.exec("begin; lock table pg_catalog.pg_publication in access exclusive mode");
  const auto held_up = [&] {
    return world.server.value(
               "select count(*) > 0 from pg_stat_activity where "
               "wait_event_type = 'Lock' and application_name like 'walpost%'") == "t";
  };
  ASSERT_TRUE(eventually(held_up, Deadline::in(milliseconds(10000)))) << second.log();
  world.write(50);
  ASSERT_TRUE(world.wait_until_confirmed()) << first.log();
  EXPECT_EQ(first.stop(), exited(0)) << first.log();
  lock.exec("commit");
  world.write(50);
  ASSERT_TRUE(world.wait_until_confirmed()) << second.log();
  EXPECT_EQ(second.stop(), exited(0)) << second.log();
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
}

INSTANTIATE_TEST_SUITE_P(Stores, PositionKept, ::testing::Values("File", "Kafka"),
                         [](const auto& store) { return "In" + store.param; });

INSTANTIATE_TEST_SUITE_P(Store, PositionFileKept, ::testing::Values("File"),
                         [](const auto& store) { return "In" + store.param; });

// Nothing is confirmed that the file doesn't hold.
TEST_P(PositionFileKept, WhereItCannotBeWrittenNothingIsConfirmed) {
  publish_and_stop(10);
  const std::string before = world.confirmed_flush_lsn();
  Walpost walpost =
      world.start({"position=file:" + (folder.path() / "gone" / "position").string()});
  EXPECT_TRUE(walpost.process().wait_for_line("gone/position can't be opened",
                                              Deadline::in(milliseconds(20000))))
      << walpost.log();
  world.write(10);
  EXPECT_TRUE(walpost.process().running());
  EXPECT_EQ(world.confirmed_flush_lsn(), before);
}

class PositionsTopic : public ::testing::Test {
 protected:
  KafkaBroker broker;
  OutboxWorld world{broker};

  void expect_refusal_that_says(const std::string& what) {
    Walpost walpost = world.start({"position=kafka"});
    EXPECT_EQ(walpost.wait(), exited(refused));
    EXPECT_TRUE(std::regex_search(walpost.log(), std::regex(what))) << walpost.log();
    const Finished check = Walpost::command("check", world.arguments({"position=kafka"}));
    EXPECT_EQ(check.status, exited(1)) << check.out;
    EXPECT_TRUE(std::regex_search(check.out, std::regex("topic walpost.positions"))) << check.out;
  }
};

TEST_F(PositionsTopic, ThatWouldDeleteByAgeIsRefusedWithTheCommandThatMendsIt) {
  broker.create_topic("walpost.positions", 1);
  expect_refusal_that_says("cleanup.policy is delete.*kafka-configs.sh .*cleanup.policy=compact");
}

TEST_F(PositionsTopic, OfSeveralPartitionsIsRefusedWithTheCommandThatMendsIt) {
  broker.create_topic("walpost.positions", 2, {{"cleanup.policy", "compact"}});
  expect_refusal_that_says("2 partitions instead of one.*kafka-topics.sh .*--delete");
}

TEST_F(PositionsTopic, IsNoDestinationOfEvents) {
  world.write(1);
  Walpost walpost = world.start({"position=kafka", "route.topic=walpost.positions"});
  EXPECT_EQ(walpost.wait(), exited(refused)) << walpost.log();
  EXPECT_NE(walpost.log().find("in which walpost keeps positions"), std::string::npos)
      << walpost.log();
}

}  // namespace
}  // namespace walpost::test
