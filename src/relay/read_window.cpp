#include "walpost/relay/read_window.h"

#include <algorithm>

namespace walpost::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;

constexpr double quiet_rate = 1000;  // rows/s up to which every row is handed on at once
constexpr double full_rate = 20000;  // rows/s from which the window is at its bound
constexpr microseconds bound{2000};  // a Unix socket's buffer holds about 280 small messages
constexpr microseconds backlog_nap{100};
constexpr milliseconds measure_interval{10};
constexpr duration<double> smoothing{0.05};

}  // namespace

void ReadWindow::after_read(Instant now, std::size_t rows, bool backlog) {
  measure(now, rows);
  if (backlog) {
    next_read_ = now + backlog_nap;
    return;
  }
  const double share = std::clamp((rate_ - quiet_rate) / (full_rate - quiet_rate), 0.0, 1.0);
  next_read_ = now + duration_cast<microseconds>(bound * share);
}

void ReadWindow::measure(Instant now, std::size_t rows) {
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
