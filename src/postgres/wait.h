#pragma once

#include <string_view>

#include "walpost/relay/clock.h"

namespace walpost::postgres {

/// Patience for a sequence of steps: a deadline and the operator's right to interrupt.
class Wait {
 public:
  enum class Interrupts {
    any_stop,      ///< also one that came before
    further_stop,  ///< only one that comes after construction: the operator lost patience
  };

  Wait(relay::Clock& clock, relay::Instant until, Interrupts interrupts)
      : clock_(clock),
        until_(until),
        stops_allowed_(interrupts == Interrupts::any_stop ? 0 : clock.stop_requests()) {}

  /// Returns once `fd` has one of `events` (or an error). Throws relay::SessionFailure: transient
  /// when the time is over, interrupted on a stop. `doing` completes "no answer in time while ...".
  /// Returns after `at_most`, too.
  void ready(int fd, short events, std::string_view doing,
             relay::milliseconds at_most = std::chrono::hours(1));

  [[nodiscard]] relay::Clock& clock() { return clock_; }

 private:
  void check(std::string_view doing) const;

  relay::Clock& clock_;
  relay::Instant until_;
  int stops_allowed_;
};

/// The events that are ready on `fd` now, without waiting.
[[nodiscard]] short ready_now(int fd, short events);

/// A clock for commands that run to their end: waits in poll(), leaves signals to their defaults.
class CommandClock final : public relay::Clock {
 public:
  [[nodiscard]] relay::Instant now() const override;
  [[nodiscard]] pgoutput::Timestamp utc() const override;
  void wait(std::vector<pollfd>& fds, relay::Instant until) override;
  [[nodiscard]] int stop_requests() const override { return 0; }
};

}  // namespace walpost::postgres
