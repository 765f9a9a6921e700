#include "delivery_errors.h"

#include <gtest/gtest.h>

namespace walpost::kafka {
namespace {

using Kind = relay::DeliveryFailure::Kind;

TEST(DeliveryErrors, ARecordTheBrokerRefusesForItselfIsPermanent) {
  for (const auto error :
       {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
        RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_POLICY_VIOLATION}) {
    EXPECT_EQ(failure_kind(error), Kind::permanent) << rd_kafka_err2name(error);
  }
}

TEST(DeliveryErrors, AMissingRightIsNotTheRecordsFault) {
  EXPECT_EQ(failure_kind(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED), Kind::retryable);
}

TEST(DeliveryErrors, ThisMachinesClockIsNotTheRecordsFault) {
  EXPECT_EQ(failure_kind(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP), Kind::retryable);
}

TEST(DeliveryErrors, WhatWasPurgedOrTheClusterCausesIsRetryable) {
  for (const auto error :
       {RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_INVALID_MSG}) {
    EXPECT_EQ(failure_kind(error), Kind::retryable) << rd_kafka_err2name(error);
  }
}

TEST(DeliveryErrors, AnUnknownCodeIsRetryableSoThatNothingIsSetAside) {
  EXPECT_EQ(failure_kind(RD_KAFKA_RESP_ERR_END_ALL), Kind::retryable);
}

TEST(DeliveryErrors, ALostSequenceIsFatalForTheProducer) {
  for (const auto error :
       {RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, RD_KAFKA_RESP_ERR__FENCED,
        RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH}) {
    EXPECT_EQ(failure_kind(error), Kind::fatal) << rd_kafka_err2name(error);
  }
}

TEST(DeliveryErrors, ABrokersAnswerIsNotUnreachability) {
  EXPECT_TRUE(is_unreachable(RD_KAFKA_RESP_ERR__TRANSPORT));
  EXPECT_TRUE(is_unreachable(RD_KAFKA_RESP_ERR__TIMED_OUT));
  EXPECT_FALSE(is_unreachable(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART));
  EXPECT_FALSE(is_unreachable(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE));
}

TEST(DeliveryErrors, AClusterInTransitionIsAskedAgain) {
  EXPECT_TRUE(is_passing(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE));
  EXPECT_TRUE(is_passing(RD_KAFKA_RESP_ERR__TRANSPORT));
  EXPECT_FALSE(is_passing(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
  EXPECT_FALSE(is_passing(RD_KAFKA_RESP_ERR_NO_ERROR));
}

}  // namespace
}  // namespace walpost::kafka
