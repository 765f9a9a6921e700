#include "system_clock.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "scheduling.h"

namespace walpost::cli {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

timespec remaining(relay::Instant until) {
  const relay::Instant now = relay::Instant::clock::now();
  // Compared before it is subtracted: a far past would overflow.
  const auto left = until > now ? until - now : relay::Instant::duration(0);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds);
  return {static_cast<std::time_t>(seconds.count()), static_cast<long>(rest.count())};
}

}  // namespace

SystemClock::SystemClock() {
  const sigset_t signals = stop_signals();
  if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
    fail(error, "pthread_sigmask");
  }
  signal_fd_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signal_fd_ < 0) {
    fail(errno, "signalfd");
  }
}

SystemClock::~SystemClock() {
  close(signal_fd_);
}

relay::Instant SystemClock::now() const {
  return relay::Instant::clock::now();
}

pgoutput::Timestamp SystemClock::utc() const {
  // 2000-01-01 00:00:00 UTC, where PostgreSQL's time begins.
  constexpr std::chrono::sys_days epoch{std::chrono::year(2000) / 1 / 1};
  const auto since = std::chrono::system_clock::now() - epoch;
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

void SystemClock::wait(std::vector<pollfd>& fds, relay::Instant until) {
  fds.push_back({signal_fd_, POLLIN, 0});
  // ppoll and not poll: the loop waits for fractions of a millisecond.
  const timespec timeout = remaining(until);
  const int ready = ppoll(fds.data(), fds.size(), &timeout, nullptr);
  const int error = errno;
  const bool signalled = ready > 0 && fds.back().revents != 0;
  fds.pop_back();
  if (ready == 0) {
    step_aside_if_late(until, now());
  }
  if (ready < 0 && error != EINTR) {
    fail(error, "ppoll");
  }
  if (ready < 0) {
    // Interrupted (a debugger, a stopped job): nothing is known to be ready.
    for (pollfd& fd : fds) {
      fd.revents = 0;
    }
  }
  if (signalled) {
    count_signals();
  }
}

void SystemClock::count_signals() {
  signalfd_siginfo signal{};
  while (read(signal_fd_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    ++stop_requests_;
  }
}

}  // namespace walpost::cli
