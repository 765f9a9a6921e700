#include <gtest/gtest.h>

#include "walpost/relay/read_window.h"
#include "walpost/relay/retry_policy.h"
#include "walpost/relay/shutdown_watch.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;

TEST(ReadWindowTest, RareRowsAreReadAtOnce) {
  ReadWindow window;
  Instant now{std::chrono::seconds(100)};
  for (int i = 0; i < 500; ++i) {
    now += milliseconds(2);  // 500 rows a second
    window.after_read(now, 1, false);
    ASSERT_LE(window.next_read(), now + microseconds(1));
  }
  EXPECT_NEAR(window.rate(), 500, 50);
}

TEST(ReadWindowTest, TheWindowGrowsWithTheRateUpToTwoMilliseconds) {
  ReadWindow window;
  Instant now{std::chrono::seconds(100)};
  microseconds before{0};
  for (const std::size_t rows_per_millisecond : {2u, 5u, 10u, 20u, 60u}) {
    for (int i = 0; i < 500; ++i) {
      now += milliseconds(1);
      window.after_read(now, rows_per_millisecond, false);
    }
    const auto wait = std::chrono::duration_cast<microseconds>(window.next_read() - now);
    EXPECT_GE(wait, before);
    EXPECT_LE(wait, microseconds(2000));
    before = wait;
  }
  EXPECT_EQ(before, microseconds(2000));
}

TEST(ReadWindowTest, ASocketThatNeverRunsDryIsLeftAloneOnlyBriefly) {
  ReadWindow window;
  const Instant now{std::chrono::seconds(100)};
  window.after_read(now, 500, true);
  EXPECT_GE(window.next_read() - now, microseconds(50));
  EXPECT_LE(window.next_read() - now, microseconds(200));
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
