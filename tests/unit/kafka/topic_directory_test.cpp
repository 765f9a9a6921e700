// What a refused creation of a topic means, without brokers: the answers are given by hand.
#include "topic_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wakeup.h"
#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

using relay::FailureKind;
using relay::SessionFailure;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ManualClock final : public relay::Clock {
 public:
  [[nodiscard]] relay::Instant now() const override { return now_; }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>&, relay::Instant until) override { now_ = until; }
  [[nodiscard]] int stop_requests() const override { return 0; }
  void pass(milliseconds time) { now_ += time; }

 private:
  relay::Instant now_{std::chrono::hours{1}};
};

class TopicCreationTest : public ::testing::Test {
 protected:
  void SetUp() override { directory.start(producer); }

  /// As the controller answers the question for "orders".
  void answer(rd_kafka_resp_err_t error, const std::string& reason) {
    directory.get("orders").stage = Topic::Stage::creating;
    EXPECT_TRUE(directory.take_creation({"orders", error, reason}));
  }

  Wakeup wakeup;
  ManualClock clock;
  Producer producer{producer_properties({{"bootstrap.servers", "127.0.0.1:1"}}, std::nullopt),
                    wakeup.fd()};
  TopicDirectory directory{TopicCreation{3, 3}, false, clock};
};

TEST_F(TopicCreationTest, BrokersThatAreAwayForAMomentAreWaitedFor) {
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.");
  EXPECT_NO_THROW(directory.advance());
  EXPECT_TRUE(directory.next_due());
  clock.pass(TopicDirectory::brokers_grace - milliseconds{1});
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.");
  EXPECT_NO_THROW(directory.advance());
}

TEST_F(TopicCreationTest, BrokersThatWereGoneAltogetherInBetweenAreWaitedForAnew) {
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.");
  clock.pass(TopicDirectory::brokers_grace);
  answer(RD_KAFKA_RESP_ERR_NOT_CONTROLLER, "moved");
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.");
  EXPECT_NO_THROW(directory.advance());
}

TEST_F(TopicCreationTest, AFactorBeyondTheClusterIsRefusedWithTheBrokersReason) {
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "only 1 broker(s) are registered");
  clock.pass(TopicDirectory::brokers_grace);
  answer(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, "only 1 broker(s) are registered");
  try {
    directory.advance();
    FAIL() << "not refused";
  } catch (const SessionFailure& refusal) {
    EXPECT_EQ(refusal.kind(), FailureKind::refused);
    EXPECT_THAT(refusal.what(), testing::HasSubstr("only 1 broker(s) are registered"));
  }
}

TEST_F(TopicCreationTest, WhatNoWaitingMendsIsRefusedAtOnce) {
  answer(RD_KAFKA_RESP_ERR_POLICY_VIOLATION, "names must end in .v1");
  EXPECT_THROW(directory.advance(), SessionFailure);
}

TEST_F(TopicCreationTest, APassingErrorIsNoRefusalHoweverLongItLasts) {
  for (int i = 0; i < 100; ++i) {
    answer(RD_KAFKA_RESP_ERR_NOT_CONTROLLER, "moved");
    EXPECT_NO_THROW(directory.advance());
    clock.pass(seconds{1});
  }
}

}  // namespace
}  // namespace walpost::kafka
