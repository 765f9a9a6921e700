#pragma once

#include <chrono>

namespace walpost::bench {

/// The time that a whole run of the benchmark may take. SIGINT and SIGTERM end it at once, so that
/// what was made in servers that aren't ours is taken away again. One a process.
class Budget {
 public:
  /// Takes over both signals.
  explicit Budget(double seconds);

  /// Zero or less: there is none.
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] bool interrupted() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace walpost::bench
