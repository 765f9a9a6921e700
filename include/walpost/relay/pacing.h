#pragma once

#include <cstddef>

#include "walpost/relay/clock.h"

namespace walpost::relay {

/// When to read the socket and when to hand on what was read, so that one system call and one
/// produce request serve many rows. Under load the walsender makes one small send a message, and
/// reading on every wake costs a system call a message on both sides; a record handed on alone
/// costs a wake-up of librdkafka's thread and a request of its own. When rows are rare, any wait is
/// only latency. So: no wait up to a thousand rows a second; above, rows are handed on in bursts
/// whose spacing grows with the rate, and the socket is emptied often enough in between that it
/// can't fill. Figures: DESIGN.md "The loop". Pure; one thread; no allocation.
class Pacing {
 public:
  enum class HandOver {
    complete,   ///< of all that had been read
    cut_short,  ///< goes on with the next turn, at once: libpq moves what is left at every read
  };

  /// The socket was emptied.
  void after_read(Instant now);
  /// What had been read was handed on: `rows` of it, possibly none.
  void after_hand_over(Instant now, std::size_t rows, HandOver extent = HandOver::complete);

  /// Whether rows come so fast that they are to be collected.
  [[nodiscard]] bool collecting() const { return spacing_.count() > 0; }
  [[nodiscard]] Instant next_read() const { return next_read_; }
  [[nodiscard]] Instant next_hand_over() const { return next_hand_over_; }
  /// Rows a second, smoothed over about 50 ms.
  [[nodiscard]] double rate() const { return rate_; }
  /// Time between bursts at the present rate.
  [[nodiscard]] microseconds spacing() const { return spacing_; }

 private:
  void measure(Instant now, std::size_t rows);

  Instant next_read_{};
  Instant next_hand_over_{};
  microseconds spacing_{0};
  Instant mark_{};
  std::size_t since_mark_ = 0;
  double rate_ = 0;
};

}  // namespace walpost::relay
