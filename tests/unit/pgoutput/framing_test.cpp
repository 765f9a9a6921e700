#include "pgoutput/framing.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "decoded.h"
#include "golden.h"

namespace {

using pgoutput::DecodeError;
using pgoutput::Frame;
using pgoutput::Keepalive;
using pgoutput::Lsn;
using pgoutput::XLogData;

const golden::Scenario& scenario(const std::string& name) {
  return golden::frames().at(name);
}

template <typename F>
F parsed(std::string_view bytes) {
  const auto result = pgoutput::parse_frame(bytes);
  if (const auto* error = std::get_if<DecodeError>(&result)) {
    throw std::runtime_error(std::string(error->what) + " at " + std::to_string(error->offset));
  }
  return std::get<F>(std::get<Frame>(result));
}

std::optional<DecodeError> refusal(std::string_view bytes) {
  const auto result = pgoutput::parse_frame(bytes);
  if (const auto* error = std::get_if<DecodeError>(&result)) return *error;
  return std::nullopt;
}

TEST(Keepalive, FirstOfAStreamIsWhereTheSlotStands) {
  const auto keepalive = parsed<Keepalive>(scenario("start").captured.at(0).bytes);
  EXPECT_EQ(keepalive.wal_end, scenario("start").lsn_fact("confirmed_flush"));
  EXPECT_FALSE(keepalive.reply_requested);
}

TEST(Keepalive, TellsWhenTheServerSentIt) {
  const auto keepalive = parsed<Keepalive>(scenario("start").captured.at(0).bytes);
  EXPECT_GE(keepalive.sent_at, scenario("start").time_fact("before"));
  EXPECT_LE(keepalive.sent_at, scenario("status").time_fact("after"));
}

TEST(Keepalive, AsksForAReplyWhenTheClientWasSilent) {
  const auto keepalive = parsed<Keepalive>(scenario("silence").captured.back().bytes);
  EXPECT_TRUE(keepalive.reply_requested);
  EXPECT_EQ(keepalive.wal_end, scenario("status").lsn_fact("flushed"));
}

TEST(Keepalive, RefusesAReplyByteOtherThanZeroAndOne) {
  std::string bytes = scenario("start").captured.at(0).bytes;
  bytes.back() = 2;
  ASSERT_TRUE(refusal(bytes));
  EXPECT_EQ(refusal(bytes)->offset, 17U);
}

class TransactionFrames : public testing::Test {
 protected:
  void SetUp() override {
    for (const golden::Captured& one : scenario("transaction").captured) {
      if (one.bytes.front() == 'w') frames_.push_back(parsed<XLogData>(one.bytes));
    }
    ASSERT_EQ(frames_.size(), 4U);  // Begin, Relation, Insert, Commit
  }

  std::vector<XLogData> frames_;
};

TEST_F(TransactionFrames, CarryOneMessageEach) {
  const auto insert = decoded<pgoutput::Insert>({std::string(frames_[2].payload), {}});
  EXPECT_EQ(insert.row.size(), 2U);
  EXPECT_EQ(frames_[0].payload.front(), 'B');
  EXPECT_EQ(frames_[1].payload.front(), 'R');
  EXPECT_EQ(frames_[3].payload.front(), 'C');
}

TEST_F(TransactionFrames, OfTheCommitStandAtItsEnd) {
  EXPECT_EQ(frames_[3].start, scenario("transaction").lsn_fact("commit_end"));
  EXPECT_EQ(frames_[3].end, scenario("transaction").lsn_fact("commit_end"));
}

TEST_F(TransactionFrames, OfARelationStandNowhere) {
  EXPECT_EQ(frames_[1].start, Lsn{});
  EXPECT_EQ(frames_[1].end, Lsn{});
}

TEST_F(TransactionFrames, WereSentOneAfterTheOther) {
  EXPECT_GE(frames_[0].sent_at, scenario("start").time_fact("before"));
  EXPECT_LE(frames_[0].sent_at, frames_[3].sent_at);
  EXPECT_LE(frames_[3].sent_at, scenario("status").time_fact("after"));
}

// Hand-laid after the documentation's XLogData, as a captured frame has equal start and end.
TEST(XLogData, HasStartBeforeEndBeforeTime) {
  const std::string bytes("w\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\xff\xff\xff\xff\xff\xff\xff\xfe", 25);
  const auto frame = parsed<XLogData>(bytes);
  EXPECT_EQ(frame.start, Lsn{1});
  EXPECT_EQ(frame.end, Lsn{2});
  EXPECT_EQ(frame.sent_at, pgoutput::Timestamp{-2});
  EXPECT_EQ(frame.payload, "");
}

TEST(Frames, CutShortAreRefused) {
  constexpr std::size_t xlog_data_header = 25;  // what follows is the payload, of any length
  for (const auto& [name, one] : golden::frames()) {
    for (const golden::Captured& captured : one.captured) {
      const std::string& bytes = captured.bytes;
      const std::size_t whole = bytes.front() == 'w' ? xlog_data_header : bytes.size();
      for (std::size_t size = 0; size < whole; ++size) {
        EXPECT_TRUE(refusal(bytes.substr(0, size))) << name << " cut to " << size;
      }
    }
  }
}

TEST(Frames, OfAKeepaliveEndWithTheReplyByte) {
  const std::string bytes = scenario("start").captured.at(0).bytes + '\0';
  ASSERT_TRUE(refusal(bytes));
  EXPECT_EQ(refusal(bytes)->offset, 18U);
}

TEST(Frames, OfAnotherTypeAreRefused) {
  std::string bytes = scenario("start").captured.at(0).bytes;
  bytes.front() = 'x';
  ASSERT_TRUE(refusal(bytes));
  EXPECT_EQ(refusal(bytes)->offset, 0U);
}

// A server took these very bytes and moved its slot to `flushed`.
TEST(StandbyStatus, IsWhatAServerTook) {
  const golden::Scenario& taken = scenario("status");
  ASSERT_EQ(taken.lsn_fact("confirmed_flush"), taken.lsn_fact("flushed"));
  const Lsn flushed = taken.lsn_fact("flushed");
  const auto bytes = pgoutput::encode({.written = Lsn{flushed.value + 2},
                                       .flushed = flushed,
                                       .applied = Lsn{flushed.value + 1},
                                       .at = {123456789},
                                       .reply_requested = true});
  EXPECT_EQ(std::string(bytes.data(), bytes.size()), taken.captured.at(0).bytes);
}

TEST(StandbyStatus, FollowsTheDocumentedLayout) {
  const auto bytes = pgoutput::encode({.written = Lsn{0x0102030405060708},
                                       .flushed = Lsn{0x1112131415161718},
                                       .applied = Lsn{0x2122232425262728},
                                       .at = {-2},
                                       .reply_requested = false});
  const std::string expected(
      "r\x01\x02\x03\x04\x05\x06\x07\x08\x11\x12\x13\x14\x15\x16\x17\x18"
      "\x21\x22\x23\x24\x25\x26\x27\x28\xff\xff\xff\xff\xff\xff\xff\xfe\0",
      34);
  EXPECT_EQ(std::string(bytes.data(), bytes.size()), expected);
}

}  // namespace
