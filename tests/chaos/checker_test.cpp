// The checker of the chaos runs against records that a test writes as walpost never may.
#include "chaos/checker.h"

#include <gmock/gmock.h>

#include <fstream>

#include "integration/outbox_world.h"

namespace walpost::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckerTest : public testing::Test {
 protected:
  CheckerTest() : world_(KafkaBroker::shared()) {
    CommitOrder::make_tables([this](const std::string& sql) { world_.server.exec(sql); });
    KafkaBroker::shared().create_topic(doomed(), 6);
    checker_ = std::make_unique<Checker>(world_.server.conninfo(),
                                         KafkaBroker::shared().bootstrap(), world_.topic, doomed());
    checker_->during("a test");
  }

  [[nodiscard]] std::string doomed() const { return world_.topic + "-doomed"; }

  /// A committed row of key "k"; its id.
  std::string row(const std::string& table = "outbox") {
    return world_.server.value("insert into " + table +
                               "(aggregate_type, aggregate_id, event_type, payload) values "
                               "('order', 'k', 'E', '{}') returning id");
  }

  void record(const std::string& topic, const std::string& id, const std::string& payload = "{}") {
    std::ofstream(files_.path() / "payload") << payload;
    const Finished done =
        run_to_end({"kcat", "-P", "-b", KafkaBroker::shared().bootstrap(), "-X",
                    "partitioner=murmur2_random", "-X", "enable.idempotence=true", "-t", topic,
                    "-k", "k", "-H", "messageId=" + id, (files_.path() / "payload").string()},
                   Deadline::in(milliseconds(20000)));
    ASSERT_EQ(done.status, exited(0)) << done.err;
  }

  /// Whether everything committed so far is there and nothing was wrong.
  bool all_well(int limit_ms = 20000) {
    const std::string mark = "asked " + std::to_string(++marks_);
    world_.server.exec(CommitOrder::mark(mark));
    return checker_->all_seen_before(mark, Deadline::in(milliseconds(limit_ms)));
  }

  OutboxWorld world_;
  TempDir files_;
  std::unique_ptr<Checker> checker_;
  int marks_ = 0;
};

TEST_F(CheckerTest, RecordsInCommitOrderAreWellAndRepeatsAreCounted) {
  const std::string first = row();
  const std::string second = row("outbox_doomed");
  record(world_.topic, first);
  record(doomed(), second);
  record(world_.topic, first);
  const std::string third = row();
  record(world_.topic, third);
  EXPECT_TRUE(all_well());
  EXPECT_THAT(checker_->violations(), IsEmpty());
  EXPECT_EQ(checker_->tally().events, 3u);
  EXPECT_EQ(checker_->tally().published, 4u);
  EXPECT_EQ(checker_->tally().repeats, 1u);
}

TEST_F(CheckerTest, AMissingEventIsMissed) {
  row();
  EXPECT_FALSE(all_well(1000));
  EXPECT_EQ(checker_->tally().lost, 1u);
}

TEST_F(CheckerTest, ALaterEventBeforeAnEarlierOneIsSaidWithTheFault) {
  const std::string earlier = row();
  const std::string later = row();
  record(world_.topic, later);
  record(world_.topic, earlier);
  EXPECT_FALSE(all_well());
  EXPECT_THAT(checker_->violations(),
              ElementsAre(HasSubstr("commit 0 after commit 1 in " + world_.topic)));
  EXPECT_THAT(checker_->violations(), ElementsAre(HasSubstr("during: a test")));
  EXPECT_EQ(checker_->tally().out_of_order, 1u);
}

TEST_F(CheckerTest, ARecordOfNoRowAndOneOfAnotherPayloadAreWrong) {
  record(world_.topic, "00000000-0000-0000-0000-000000000000");
  record(world_.topic, row(), "{\"other\": 1}");
  EXPECT_FALSE(eventually([&] { return checker_->tally().published == 2; },
                          Deadline::in(milliseconds(20000))) &&
               all_well());
  EXPECT_EQ(checker_->tally().foreign, 1u);
  EXPECT_EQ(checker_->tally().wrong_bytes, 1u);
}

TEST_F(CheckerTest, ARowWrittenWhileUnpublishedIsNoEvent) {
  world_.server.exec(CommitOrder::mark(CommitOrder::unpublished_mark));
  const std::string unpublished = row();
  world_.server.exec(CommitOrder::mark(CommitOrder::published_mark));
  record(world_.topic, row());
  EXPECT_TRUE(all_well());
  EXPECT_EQ(checker_->tally().unpublished, 1u);
  record(world_.topic, unpublished);
  EXPECT_TRUE(eventually([&] { return checker_->tally().foreign == 1; },
                         Deadline::in(milliseconds(20000))));
}

TEST_F(CheckerTest, WhatWasDeletedWithItsTopicIsNotMissedAndWhatCameAfterwardsIs) {
  const std::string deleted = row("outbox_doomed");
  checker_->forget_doomed();
  KafkaBroker::shared().delete_topic(doomed());
  KafkaBroker::shared().create_topic(doomed(), 6);
  world_.server.exec(CommitOrder::mark(CommitOrder::remade_mark));
  checker_->read_doomed();
  EXPECT_TRUE(all_well());
  EXPECT_EQ(checker_->tally().deleted, 1u);
  const std::string after = row("outbox_doomed");
  EXPECT_FALSE(all_well(1000));
  record(doomed(), after);
  EXPECT_TRUE(all_well());
  record(doomed(), deleted);  // after a crash of the server, for example
  EXPECT_TRUE(eventually([&] { return checker_->tally().repeats == 1; },
                         Deadline::in(milliseconds(20000))));
  EXPECT_THAT(checker_->violations(), IsEmpty());
}

TEST_F(CheckerTest, ACrashThatTakesTheSlotBackChangesNothing) {
  record(world_.topic, row());
  EXPECT_TRUE(all_well());
  world_.server.stop(StopMode::immediate);
  world_.server.start();
  record(world_.topic, row());
  EXPECT_TRUE(all_well());
  EXPECT_EQ(checker_->tally().events, 2u);
}

}  // namespace
}  // namespace walpost::test
