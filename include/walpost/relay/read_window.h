#pragma once

#include <cstddef>

#include "walpost/relay/clock.h"

namespace walpost::relay {

/// How long to leave the socket alone after a read, so that one read and one produce request serve
/// many rows. Under load the walsender makes one small send a message, and reading on every wake
/// costs a system call a message on both sides; when rows are rare, any wait is only latency. So:
/// no window up to a thousand rows a second, growing with the rate to a bound, and a short nap
/// while the socket never runs dry. Figures: DESIGN.md "The loop". Pure; one thread; no allocation.
class ReadWindow {
 public:
  /// `rows` were read at `now`; `backlog` says that the read left more behind.
  void after_read(Instant now, std::size_t rows, bool backlog);
  /// When the socket is to be read next.
  [[nodiscard]] Instant next_read() const { return next_read_; }
  void reset() { *this = ReadWindow(); }
  /// Rows a second, smoothed over about 50 ms.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  void measure(Instant now, std::size_t rows);

  Instant next_read_{};
  Instant mark_{};
  std::size_t since_mark_ = 0;
  double rate_ = 0;
};

}  // namespace walpost::relay
