#include "system_clock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace walpost::cli {
namespace {

using namespace std::chrono_literals;

/// An event that is there (or not) at once.
class Event {
 public:
  explicit Event(unsigned int count) : fd_(eventfd(count, EFD_CLOEXEC)) {}
  ~Event() { close(fd_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  [[nodiscard]] pollfd readable() const { return {fd_, POLLIN, 0}; }

 private:
  int fd_;
};

constexpr relay::Instant::duration long_enough = 10s;

TEST(SystemClockTest, AReadyDescriptorEndsTheWait) {
  SystemClock clock;
  const Event ready(1);
  const Event idle(0);
  std::vector<pollfd> fds{idle.readable(), ready.readable()};
  const auto deadline = clock.now() + long_enough;
  clock.wait(fds, deadline);
  EXPECT_LT(clock.now(), deadline);
  ASSERT_EQ(fds.size(), 2U);
  EXPECT_EQ(fds[0].revents, 0);
  EXPECT_EQ(fds[1].revents, POLLIN);
}

TEST(SystemClockTest, TheWaitEndsAtItsTimeAndNotBefore) {
  SystemClock clock;
  std::vector<pollfd> fds;
  const auto until = clock.now() + 300us;
  clock.wait(fds, until);
  EXPECT_GE(clock.now(), until);
}

TEST(SystemClockTest, ATimeThatHasPassedIsNoWait) {
  SystemClock clock;
  std::vector<pollfd> fds;
  const auto before = clock.now();
  clock.wait(fds, relay::Instant::min());
  EXPECT_LT(clock.now() - before, long_enough);
}

TEST(SystemClockTest, ASignalEndsTheWaitAndIsCounted) {
  SystemClock clock;
  const Event idle(0);
  std::vector<pollfd> fds{idle.readable()};
  EXPECT_EQ(clock.stop_requests(), 0);
  kill(getpid(), SIGTERM);
  const auto deadline = clock.now() + long_enough;
  clock.wait(fds, deadline);
  EXPECT_LT(clock.now(), deadline);
  EXPECT_EQ(clock.stop_requests(), 1);
  EXPECT_EQ(fds[0].revents, 0);
}

TEST(SystemClockTest, ASecondSignalIsASecondRequest) {
  SystemClock clock;
  std::vector<pollfd> fds;
  kill(getpid(), SIGTERM);
  clock.wait(fds, relay::Instant::min());
  kill(getpid(), SIGTERM);
  clock.wait(fds, relay::Instant::min());
  EXPECT_EQ(clock.stop_requests(), 2);
}

TEST(SystemClockTest, BothSignalsAtOnceAreTwoRequests) {
  SystemClock clock;
  std::vector<pollfd> fds;
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGINT);
  clock.wait(fds, relay::Instant::min());
  EXPECT_EQ(clock.stop_requests(), 2);
}

TEST(SystemClockTest, AThreadMadeLaterCannotDieOfTheSignal) {
  SystemClock clock;
  sigset_t mask;
  std::thread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &mask); }).join();
  EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
  EXPECT_EQ(sigismember(&mask, SIGINT), 1);
}

TEST(SystemClockTest, UtcCountsMicrosecondsFromTheYear2000) {
  // date -u -d 2000-01-01 +%s
  constexpr std::int64_t epoch = 946684800;
  SystemClock clock;
  const auto unix_micros = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const auto before = unix_micros();
  const auto micros = clock.utc().micros + epoch * 1000000;
  const auto after = unix_micros();
  EXPECT_LE(before, micros);
  EXPECT_LE(micros, after);
}

}  // namespace
}  // namespace walpost::cli
