#pragma once

#include <chrono>
#include <functional>

namespace walpost::test {

using std::chrono::milliseconds;

/// A point in time after which a test gives up waiting. A value; copy it freely.
class Deadline {
 public:
  static Deadline in(milliseconds span) {
    return Deadline(std::chrono::steady_clock::now() + span);
  }

  /// Never negative; rounded up, so that waiting for it does not spin at the end.
  [[nodiscard]] milliseconds left() const;
  [[nodiscard]] bool passed() const { return left() == milliseconds::zero(); }

 private:
  explicit Deadline(std::chrono::steady_clock::time_point end) : end_(end) {}
  std::chrono::steady_clock::time_point end_;
};

/// For conditions that nothing announces (a row of a system view, a broker's readiness): asks at
/// once and then every `pace` until `holds` is true or the deadline passes. Whether it held. Where
/// there is an event to wait for (a line of a log, the end of a process, a record) wait for that
/// instead.
[[nodiscard]] bool eventually(const std::function<bool()>& holds, Deadline deadline,
                              milliseconds pace = milliseconds(20));

}  // namespace walpost::test
