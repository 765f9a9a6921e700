#include "walpost/relay/pacing.h"

#include <algorithm>

namespace walpost::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;

constexpr double quiet_rate = 1000;  // rows/s up to which every row is handed on at once
constexpr double full_rate = 20000;  // rows/s from which the spacing is at its bound
constexpr microseconds longest_spacing{5000};
// A Unix socket's buffer holds about 280 small messages, three to a one-row transaction: at the
// full rate it fills in 4 ms, in a backlog as fast as the server decodes.
constexpr microseconds read_spacing{500};
constexpr microseconds read_spacing_in_backlog{100};
constexpr milliseconds measure_interval{10};
constexpr duration<double> smoothing{0.05};

}  // namespace

void Pacing::after_read(Instant now) {
  if (!collecting()) return;
  next_read_ = now + (rate_ < full_rate ? read_spacing : read_spacing_in_backlog);
}

void Pacing::after_hand_over(Instant now, std::size_t rows, HandOver extent) {
  measure(now, rows);
  const double share = std::clamp((rate_ - quiet_rate) / (full_rate - quiet_rate), 0.0, 1.0);
  spacing_ = duration_cast<microseconds>(longest_spacing * share);
  next_hand_over_ = extent == HandOver::complete ? now + spacing_ : now;
}

void Pacing::measure(Instant now, std::size_t rows) {
  since_mark_ += rows;
  const duration<double> passed = now - mark_;
  if (passed < measure_interval) return;
  const double seen = static_cast<double>(since_mark_) / passed.count();
  const double weight = std::min(1.0, passed / smoothing);
  rate_ += weight * (seen - rate_);
  mark_ = now;
  since_mark_ = 0;
}

}  // namespace walpost::relay
