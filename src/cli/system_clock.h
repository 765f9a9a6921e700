#pragma once

#include "walpost/relay/clock.h"

namespace walpost::cli {

/// The process's own clock and its SIGTERM and SIGINT. Make one before any thread is started: every
/// thread must inherit the blocked signals, or one could die of them. They stay blocked to the end
/// of the process, so that a late signal can't turn a clean stop into a death by signal.
class SystemClock final : public relay::Clock {
 public:
  /// Throws std::system_error.
  SystemClock();
  ~SystemClock() override;
  SystemClock(const SystemClock&) = delete;
  SystemClock& operator=(const SystemClock&) = delete;

  [[nodiscard]] relay::Instant now() const override;
  [[nodiscard]] pgoutput::Timestamp utc() const override;
  /// Also counts the signals that have arrived, even when `until` has passed already. Throws
  /// std::system_error when the kernel can't wait.
  void wait(std::vector<pollfd>& fds, relay::Instant until) override;
  [[nodiscard]] int stop_requests() const override { return stop_requests_; }

 private:
  void count_signals();

  int signal_fd_ = -1;
  int stop_requests_ = 0;
};

}  // namespace walpost::cli
