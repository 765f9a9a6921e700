#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "walpost/relay/clock.h"
#include "walpost/relay/failure.h"

namespace walpost::relay {

struct BackoffLimits {
  milliseconds first{200};
  milliseconds limit{30000};
};

/// Exponential backoff with full jitter over the upper half: attempt n waits between half and all
/// of first * 2^n, at most `limit`. Deterministic for a seed. One thread.
class Backoff {
 public:
  Backoff(BackoffLimits limits, std::uint64_t seed);
  [[nodiscard]] milliseconds next();
  void reset() { attempts_ = 0; }
  [[nodiscard]] int attempts() const { return attempts_; }

 private:
  BackoffLimits limits_;
  std::mt19937_64 random_;
  int attempts_ = 0;
};

/// How long the holder of a lost connection stays away from a server that is shutting down.
inline constexpr milliseconds server_stopping_pause{10000};
/// How often a standby asks whether the slot is free: a takeover is to take less than 2 s.
inline constexpr milliseconds standby_interval{1000};

/// The one place that decides between trying again and giving up: how long to wait before the next
/// attempt, or nothing when the process must end.
[[nodiscard]] std::optional<milliseconds> retry_after(FailureKind kind, Backoff& backoff);

}  // namespace walpost::relay
