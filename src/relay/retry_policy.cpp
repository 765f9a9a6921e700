#include "walpost/relay/retry_policy.h"

#include <algorithm>

namespace walpost::relay {

Backoff::Backoff(BackoffLimits limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

milliseconds Backoff::next() {
  constexpr int doublings = 20;  // far beyond any limit, and no overflow
  const auto full =
      std::min(limits_.first * (std::int64_t{1} << std::min(attempts_, doublings)), limits_.limit);
  ++attempts_;
  std::uniform_int_distribution<std::int64_t> pick(full.count() / 2, full.count());
  return milliseconds(pick(random_));
}

std::optional<milliseconds> retry_after(FailureKind kind, Backoff& backoff) {
  switch (kind) {
    case FailureKind::transient:
      return backoff.next();
    case FailureKind::slot_active:
      return standby_interval;
    case FailureKind::server_stopping:
      return server_stopping_pause;
    case FailureKind::set_aside:
      return milliseconds{0};
    case FailureKind::interrupted:
    case FailureKind::refused:
    case FailureKind::poisoned:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace walpost::relay
