#include "postgres/wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

using relay::FailureKind;
using relay::milliseconds;

/// Time moves only by waiting; stops arrive at a set time.
class ManualClock final : public relay::Clock {
 public:
  [[nodiscard]] relay::Instant now() const override { return now_; }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>& fds, relay::Instant until) override {
    if (::poll(fds.data(), fds.size(), 0) == 0) now_ = std::min(until, now_ + milliseconds(10));
  }
  [[nodiscard]] int stop_requests() const override { return stops + (now_ >= stop_at ? 1 : 0); }

  relay::Instant stop_at = relay::Instant::max();
  int stops = 0;

 private:
  relay::Instant now_{};
};

class WaitTest : public testing::Test {
 protected:
  WaitTest() { EXPECT_EQ(::pipe(pipe_.data()), 0); }
  ~WaitTest() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  FailureKind failure_of(Wait& wait) {
    try {
      wait.ready(pipe_[0], POLLIN, "testing");
    } catch (const relay::SessionFailure& failure) {
      return failure.kind();
    }
    ADD_FAILURE() << "no failure";
    return FailureKind::refused;
  }

  std::array<int, 2> pipe_{};
  ManualClock clock_;
};

TEST_F(WaitTest, EndsWhenTheDescriptorIsReady) {
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  Wait wait(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::any_stop);
  EXPECT_NO_THROW(wait.ready(pipe_[0], POLLIN, "testing"));
}

TEST_F(WaitTest, IsTransientWhenTheTimeIsOver) {
  Wait wait(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::any_stop);
  EXPECT_EQ(failure_of(wait), FailureKind::transient);
  EXPECT_EQ(clock_.now(), relay::Instant{} + milliseconds(100));
}

TEST_F(WaitTest, EndsAtAStop) {
  clock_.stop_at = clock_.now() + milliseconds(50);
  Wait wait(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::any_stop);
  EXPECT_EQ(failure_of(wait), FailureKind::interrupted);
  EXPECT_EQ(clock_.now(), relay::Instant{} + milliseconds(50));
}

TEST_F(WaitTest, StopOfBeforeEndsOnlyWhatMayBeStopped) {
  clock_.stops = 1;
  Wait connecting(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::any_stop);
  EXPECT_EQ(failure_of(connecting), FailureKind::interrupted);
  Wait finishing(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::further_stop);
  EXPECT_EQ(failure_of(finishing), FailureKind::transient);
}

TEST_F(WaitTest, SecondStopEndsAnything) {
  clock_.stops = 1;
  clock_.stop_at = clock_.now() + milliseconds(50);
  Wait finishing(clock_, clock_.now() + milliseconds(100), Wait::Interrupts::further_stop);
  EXPECT_EQ(failure_of(finishing), FailureKind::interrupted);
}

}  // namespace
}  // namespace walpost::postgres
