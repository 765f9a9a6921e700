#include <gtest/gtest.h>

#include "walpost/relay/pacing.h"
#include "walpost/relay/retry_policy.h"
#include "walpost/relay/shutdown_watch.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;

TEST(PacingTest, RareRowsAreHandedOnAtOnce) {
  Pacing pacing;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 500; ++i) {
    now += milliseconds(2);  // 500 rows a second
    pacing.after_read(now);
    pacing.after_hand_over(now, 1);
    ASSERT_FALSE(pacing.collecting());
    ASSERT_LE(pacing.next_read(), now);
    ASSERT_LE(pacing.next_hand_over(), now);
  }
  EXPECT_NEAR(pacing.rate(), 500, 50);
}

TEST(PacingTest, BurstsGrowApartWithTheRateUpToFiveMilliseconds) {
  Pacing pacing;
  Instant now{std::chrono::seconds(100)};
  microseconds before{0};
  for (const std::size_t rows_per_millisecond : {2u, 5u, 10u, 20u, 60u}) {
    for (int i = 0; i < 500; ++i) {
      now += milliseconds(1);
      pacing.after_hand_over(now, rows_per_millisecond);
    }
    EXPECT_GE(pacing.spacing(), before);
    EXPECT_GT(pacing.spacing(), microseconds(0));
    before = pacing.spacing();
  }
  EXPECT_EQ(before, microseconds(5000));
}

TEST(PacingTest, TheSocketIsEmptiedOftenWhileRowsAreCollected) {
  Pacing pacing;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 500; ++i) pacing.after_hand_over(now += milliseconds(1), 80);
  pacing.after_read(now);
  EXPECT_LE(pacing.next_read() - now, microseconds(200));
  EXPECT_LT(pacing.next_read(), pacing.next_hand_over());
}

TEST(PacingTest, AHandOverCutShortGoesOnAtOnce) {
  Pacing pacing;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 500; ++i) pacing.after_hand_over(now += milliseconds(1), 80);
  pacing.after_hand_over(now, 80, Pacing::HandOver::cut_short);
  EXPECT_EQ(pacing.next_hand_over(), now);
  EXPECT_TRUE(pacing.collecting());
}

TEST(PacingTest, WhenRowsBecomeRareAgainTheyAreHandedOnAtOnceAgain) {
  Pacing pacing;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 500; ++i) pacing.after_hand_over(now += milliseconds(1), 80);
  for (int i = 0; i < 100; ++i) pacing.after_hand_over(now += milliseconds(5), 0);
  EXPECT_FALSE(pacing.collecting());
}

TEST(BackoffTest, DoublesWithJitterUpToItsLimit) {
  Backoff backoff({milliseconds(100), milliseconds(1000)}, 1);
  milliseconds full{100};
  for (int attempt = 0; attempt < 50; ++attempt) {
    const milliseconds wait = backoff.next();
    EXPECT_GE(wait, full / 2);
    EXPECT_LE(wait, full);
    full = std::min(full * 2, milliseconds(1000));
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), milliseconds(100));
}

TEST(RetryPolicyTest, DecidesEachKindOfFailure) {
  Backoff backoff({milliseconds(100), milliseconds(1000)}, 1);
  EXPECT_TRUE(retry_after(FailureKind::transient, backoff));
  EXPECT_LT(*retry_after(FailureKind::slot_active, backoff), milliseconds(2000));
  EXPECT_GE(*retry_after(FailureKind::server_stopping, backoff), milliseconds(10000));
  EXPECT_FALSE(retry_after(FailureKind::refused, backoff));
  EXPECT_FALSE(retry_after(FailureKind::poisoned, backoff));
  EXPECT_FALSE(retry_after(FailureKind::interrupted, backoff));
}

TEST(ShutdownWatchTest, AStormOfRequestsWithUnchangedWalEndMeansTheServerIsStopping) {
  ShutdownWatch watch;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 100; ++i) watch.reply_requested(now += microseconds(35), Lsn{77});
  EXPECT_TRUE(watch.stopping());
}

TEST(ShutdownWatchTest, PeacefulRequestsAreNoStorm) {
  ShutdownWatch watch;
  Instant now{std::chrono::seconds(100)};
  // wal_sender_timeout = 1 s: one request each half of it, the server idle for an hour.
  for (int i = 0; i < 7200; ++i) watch.reply_requested(now += milliseconds(500), Lsn{77});
  EXPECT_FALSE(watch.stopping());
  // Many requests while the WAL goes on are no storm either.
  for (std::uint64_t i = 0; i < 1000; ++i)
    watch.reply_requested(now += microseconds(35), Lsn{100 + i});
  EXPECT_FALSE(watch.stopping());
}

}  // namespace
}  // namespace walpost::relay
