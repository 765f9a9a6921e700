#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "decoded.h"
#include "golden.h"
#include "pgoutput/decode.h"

// Positions, identifiers and times are those pg_walinspect read from the log itself.
namespace {

using namespace std::string_literals;
using namespace pgoutput;
using testing::ElementsAre;

const golden::Scenario& scenario(const std::string& name) {
  return golden::messages().at(name);
}

TEST(Begin, TellsWhereItsCommitStandsAndWhen) {
  const auto begin = decoded<Begin>(scenario("insert_text").captured.front());
  const golden::WalRecord& commit = scenario("insert_text").record("COMMIT");
  EXPECT_EQ(begin.final_lsn, commit.start);
  EXPECT_EQ(begin.xid, commit.xid);
  EXPECT_EQ(begin.committed_at, commit.at);
}

TEST(Commit, TellsWhereItStartsAndEnds) {
  const auto commit = decoded<Commit>(scenario("insert_text").captured.back());
  const golden::WalRecord& record = scenario("insert_text").record("COMMIT");
  EXPECT_EQ(commit.flags, 0);
  EXPECT_EQ(commit.commit_lsn, record.start);
  EXPECT_EQ(commit.end_lsn, record.end);
  EXPECT_EQ(commit.committed_at, record.at);
}

TEST(Origin, TellsWhereATransactionCameFrom) {
  ASSERT_EQ(scenario("origin").letters(), "BORIC");
  const auto origin = decoded<Origin>(scenario("origin").captured.at(1));
  EXPECT_EQ(origin.lsn, (Lsn{0x16B374D848}));
  EXPECT_EQ(origin.name, "upstream");
}

TEST(Origin, GivesItsCommitTimeToTheTransaction) {
  using namespace std::chrono;
  const auto epoch = sys_days{year{2000} / 1 / 1};
  const auto there = sys_days{year{2024} / 5 / 6} + hours{7} + minutes{8} + seconds{9};
  const auto begin = decoded<Begin>(scenario("origin").captured.at(0));
  EXPECT_EQ(begin.committed_at.micros, microseconds(there - epoch).count());
}

TEST(LogicalMessage, InATransactionComesInItsPlace) {
  ASSERT_EQ(scenario("logical_messages").letters(), "MBMC");
  const auto message = decoded<LogicalMessage>(scenario("logical_messages").captured.at(2));
  EXPECT_TRUE(message.transactional);
  EXPECT_EQ(message.lsn, scenario("logical_messages").wal.at(1).end);
  EXPECT_EQ(message.prefix, "bound");
  EXPECT_EQ(message.content, "\0\xff"s);
  EXPECT_EQ(message.xid, std::nullopt);
}

TEST(LogicalMessage, OutsideATransactionComesAtOnce) {
  const auto message = decoded<LogicalMessage>(scenario("logical_messages").captured.at(0));
  EXPECT_FALSE(message.transactional);
  EXPECT_EQ(message.lsn, scenario("logical_messages").wal.at(0).end);
  EXPECT_EQ(message.prefix, "loose");
  EXPECT_EQ(message.content, "not bound");
}

class StreamedCommit : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(streamed_.letters(), "SMYYRIUDRTESRIEc"); }

  const golden::Scenario& streamed_ = scenario("streamed_commit");
  const Xid xid_ = streamed_.record("COMMIT").xid;
};

TEST_F(StreamedCommit, StartsAndResumesAStream) {
  const auto first = decoded<StreamStart>(streamed_.captured.at(0));
  EXPECT_EQ(first.xid, xid_);
  EXPECT_TRUE(first.first_segment);
  decoded<StreamStop>(streamed_.captured.at(10));
  const auto second = decoded<StreamStart>(streamed_.captured.at(11));
  EXPECT_EQ(second.xid, xid_);
  EXPECT_FALSE(second.first_segment);
}

TEST_F(StreamedCommit, MarksEveryMessageWithItsTransaction) {
  EXPECT_EQ(decoded<LogicalMessage>(streamed_.captured.at(1)).xid, xid_);
  EXPECT_EQ(decoded<Type>(streamed_.captured.at(2)).xid, xid_);
  EXPECT_EQ(decoded<Relation>(streamed_.captured.at(4)).xid, xid_);
  EXPECT_EQ(decoded<Insert>(streamed_.captured.at(5)).xid, xid_);
  EXPECT_EQ(decoded<Update>(streamed_.captured.at(6)).xid, xid_);
  EXPECT_EQ(decoded<Delete>(streamed_.captured.at(7)).xid, xid_);
  EXPECT_EQ(decoded<Truncate>(streamed_.captured.at(9)).xid, xid_);
}

TEST_F(StreamedCommit, HoldsTheSameRowsAsAPlainOne) {
  EXPECT_EQ(decoded<LogicalMessage>(streamed_.captured.at(1)).content, "in a stream");
  EXPECT_THAT(shown(decoded<Insert>(streamed_.captured.at(5)).row),
              ElementsAre("t:4", "t:sad", "n", "n", "t:streamed", "n"));
  const auto update = decoded<Update>(streamed_.captured.at(6));
  ASSERT_TRUE(update.old);
  EXPECT_THAT(shown(update.old->row), ElementsAre("t:4", "n", "n", "n", "n", "n"));
  EXPECT_THAT(shown(update.row), ElementsAre("t:5", "t:sad", "n", "n", "t:streamed", "n"));
  EXPECT_THAT(shown(decoded<Delete>(streamed_.captured.at(7)).old.row),
              ElementsAre("t:5", "n", "n", "n", "n", "n"));
  EXPECT_THAT(decoded<Truncate>(streamed_.captured.at(9)).relations,
              ElementsAre(scenario("catalogue").oid_fact("keyless")));
}

TEST_F(StreamedCommit, TellsWhereItStartsAndEnds) {
  const auto commit = decoded<StreamCommit>(streamed_.captured.back());
  const golden::WalRecord& record = streamed_.record("COMMIT");
  EXPECT_EQ(commit.xid, record.xid);
  EXPECT_EQ(commit.flags, 0);
  EXPECT_EQ(commit.commit_lsn, record.start);
  EXPECT_EQ(commit.end_lsn, record.end);
  EXPECT_EQ(commit.committed_at, record.at);
}

TEST(StreamAbort, OfASubtransactionNamesBoth) {
  const golden::Scenario& aborted = scenario("streamed_abort_of_a_subtransaction");
  ASSERT_EQ(aborted.letters(), "SRIIEAc");
  EXPECT_EQ(decoded<Insert>(aborted.captured.at(3)).xid, aborted.record("ABORT").xid);
  const auto abort = decoded<StreamAbort>(aborted.captured.at(5));
  EXPECT_EQ(abort.xid, aborted.record("COMMIT").xid);
  EXPECT_EQ(abort.subxid, aborted.record("ABORT").xid);
  EXPECT_EQ(abort.abort_lsn, std::nullopt);
  EXPECT_EQ(abort.aborted_at, std::nullopt);
}

TEST(StreamAbort, OfATransactionNamesItTwice) {
  const golden::Scenario& aborted = scenario("streamed_abort");
  const auto abort = decoded<StreamAbort>(aborted.captured.back());
  EXPECT_EQ(abort.xid, aborted.record("ABORT").xid);
  EXPECT_EQ(abort.subxid, abort.xid);
}

TEST(StreamAbort, WithParallelStreamingTellsWhereAndWhen) {
  const golden::Scenario& aborted = golden::parallel().at("parallel_abort_of_a_subtransaction");
  ASSERT_EQ(aborted.letters(), "SRIIEAc");
  const auto abort = decoded<StreamAbort>(aborted.captured.at(5));
  EXPECT_EQ(abort.xid, aborted.record("COMMIT").xid);
  EXPECT_EQ(abort.subxid, aborted.record("ABORT").xid);
  EXPECT_EQ(abort.abort_lsn, aborted.record("ABORT").end);
  EXPECT_EQ(abort.aborted_at, aborted.record("ABORT").at);
}

TEST(StreamAbort, WithParallelStreamingTellsItOfAWholeTransactionToo) {
  const golden::Scenario& aborted = golden::parallel().at("parallel_abort");
  const auto abort = decoded<StreamAbort>(aborted.captured.back());
  EXPECT_EQ(abort.subxid, aborted.record("ABORT").xid);
  EXPECT_EQ(abort.abort_lsn, aborted.record("ABORT").end);
}

TEST(BeginPrepare, TellsWhereItsPrepareStands) {
  const golden::Scenario& prepared = scenario("prepared_then_committed");
  ASSERT_EQ(prepared.letters(), "bRIPK");
  const auto begin = decoded<BeginPrepare>(prepared.captured.at(0));
  const golden::WalRecord& record = prepared.record("PREPARE");
  EXPECT_EQ(begin.prepare_lsn, record.start);
  EXPECT_EQ(begin.end_lsn, record.end);
  EXPECT_EQ(begin.prepared_at, record.at);
  EXPECT_EQ(begin.xid, record.xid);
  EXPECT_EQ(begin.gid, "golden gid 1");
}

template <typename Prepared>
void expect_prepared(const golden::Captured& message, const golden::WalRecord& record,
                     std::string_view gid) {
  const auto prepare = decoded<Prepared>(message);
  EXPECT_EQ(prepare.flags, 0);
  EXPECT_EQ(prepare.prepare_lsn, record.start);
  EXPECT_EQ(prepare.end_lsn, record.end);
  EXPECT_EQ(prepare.prepared_at, record.at);
  EXPECT_EQ(prepare.xid, record.xid);
  EXPECT_EQ(prepare.gid, gid);
}

TEST(Prepare, TellsWhereItStartsAndEnds) {
  const golden::Scenario& prepared = scenario("prepared_then_committed");
  expect_prepared<Prepare>(prepared.captured.at(3), prepared.record("PREPARE"), "golden gid 1");
}

TEST(StreamPrepare, TellsWhereItStartsAndEnds) {
  const golden::Scenario& streamed = scenario("streamed_then_prepared");
  ASSERT_EQ(streamed.letters(), "SRIESEpK");
  expect_prepared<StreamPrepare>(streamed.captured.at(6), streamed.record("PREPARE"),
                                 "golden gid 3");
}

TEST(CommitPrepared, TellsWhereItStartsAndEnds) {
  const golden::Scenario& prepared = scenario("prepared_then_committed");
  const auto commit = decoded<CommitPrepared>(prepared.captured.at(4));
  const golden::WalRecord& record = prepared.record("COMMIT_PREPARED");
  EXPECT_EQ(commit.flags, 0);
  EXPECT_EQ(commit.commit_lsn, record.start);
  EXPECT_EQ(commit.end_lsn, record.end);
  EXPECT_EQ(commit.committed_at, record.at);
  EXPECT_EQ(commit.xid, prepared.record("PREPARE").xid);
  EXPECT_EQ(commit.gid, "golden gid 1");
}

TEST(RollbackPrepared, TellsWherePrepareAndRollbackEnd) {
  const golden::Scenario& prepared = scenario("prepared_then_rolled_back");
  const auto rollback = decoded<RollbackPrepared>(prepared.captured.back());
  EXPECT_EQ(rollback.flags, 0);
  EXPECT_EQ(rollback.prepare_end_lsn, prepared.record("PREPARE").end);
  EXPECT_EQ(rollback.rollback_end_lsn, prepared.record("ABORT_PREPARED").end);
  EXPECT_EQ(rollback.prepared_at, prepared.record("PREPARE").at);
  EXPECT_EQ(rollback.rolled_back_at, prepared.record("ABORT_PREPARED").at);
  EXPECT_EQ(rollback.xid, prepared.record("PREPARE").xid);
  EXPECT_EQ(rollback.gid, "golden gid 2");
}

}  // namespace
