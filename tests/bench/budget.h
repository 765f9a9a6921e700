#pragma once

#include <chrono>

namespace walpost::bench {

/// The time that a whole run of the benchmark may take.
class Budget {
 public:
  explicit Budget(double seconds) : end_(Clock::now() + to_duration(seconds)) {}

  [[nodiscard]] double seconds_left() const {
    return std::chrono::duration<double>(end_ - Clock::now()).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration to_duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  Clock::time_point end_;
};

}  // namespace walpost::bench
