#include "transaction_batch.h"

#include <gtest/gtest.h>

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

class TransactionBatchTest : public ::testing::Test {
 protected:
  TransactionBatch batch{{.interval = milliseconds(100), .events = 3}};
  const relay::Instant start{std::chrono::hours(1)};
};

TEST_F(TransactionBatchTest, WithoutAnEventThereIsNothingToCommit) {
  EXPECT_FALSE(batch.due(start));
  EXPECT_FALSE(batch.next_due());
}

TEST_F(TransactionBatchTest, TheOldestEventDecidesWhenItIsDue) {
  batch.added(start);
  batch.added(start + milliseconds(90));
  EXPECT_EQ(batch.next_due(), start + milliseconds(100));
  EXPECT_FALSE(batch.due(start + milliseconds(99)));
  EXPECT_TRUE(batch.due(start + milliseconds(100)));
}

TEST_F(TransactionBatchTest, AsManyEventsAsMayBeInFlightAreDueAtOnce) {
  batch.added(start);
  batch.added(start);
  EXPECT_FALSE(batch.due(start));
  batch.added(start);
  EXPECT_TRUE(batch.due(start));
}

TEST_F(TransactionBatchTest, WhatComesWhileOneIsCommittedIsOfTheNext) {
  batch.added(start);
  batch.closed(start + milliseconds(100));
  EXPECT_FALSE(batch.due(start + milliseconds(100)));
  batch.added(start + milliseconds(130));
  EXPECT_EQ(batch.next_due(), start + milliseconds(230));
}

TEST_F(TransactionBatchTest, APositionAloneIsWorthATransactionASecond) {
  EXPECT_LE(batch.next_position(), start);
  batch.closed(start);
  EXPECT_EQ(batch.next_position(), start + std::chrono::seconds(1));
}

}  // namespace
}  // namespace walpost::kafka
