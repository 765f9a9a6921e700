#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

#include "pgoutput/messages.h"

namespace walpost::relay {

using Instant = std::chrono::steady_clock::time_point;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Time, waiting, and the operator's wish to stop: the third edge of the process.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  /// Wall-clock time in PostgreSQL's epoch, for status updates and latency.
  [[nodiscard]] virtual pgoutput::Timestamp utc() const = 0;
  /// Waits until a descriptor is ready (its revents is set), a stop is asked for, or `until`.
  virtual void wait(std::vector<pollfd>& fds, Instant until) = 0;
  /// How often SIGTERM or SIGINT arrived so far.
  [[nodiscard]] virtual int stop_requests() const = 0;
};

}  // namespace walpost::relay
