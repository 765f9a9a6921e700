#include "wait.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "walpost/relay/failure.h"

namespace walpost::postgres {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

void Wait::check(std::string_view doing) const {
  if (clock_.stop_requests() > stops_allowed_) {
    throw SessionFailure(FailureKind::interrupted, Side::postgres,
                         "stopped while " + std::string(doing));
  }
  if (clock_.now() >= until_) {
    throw SessionFailure(FailureKind::transient, Side::postgres,
                         "no answer in time while " + std::string(doing));
  }
}

void Wait::ready(int fd, short events, std::string_view doing, relay::milliseconds at_most) {
  const relay::Instant enough = clock_.now() + at_most;
  std::vector<pollfd> fds{{fd, events, 0}};
  while (fds.front().revents == 0) {
    check(doing);
    if (clock_.now() >= enough) return;
    clock_.wait(fds, std::min(until_, enough));
  }
}

short ready_now(int fd, short events) {
  pollfd waiting{fd, events, 0};
  return ::poll(&waiting, 1, 0) > 0 ? waiting.revents : short{0};
}

relay::Instant CommandClock::now() const {
  return std::chrono::steady_clock::now();
}

pgoutput::Timestamp CommandClock::utc() const {
  using std::chrono::microseconds;
  constexpr microseconds postgres_epoch = std::chrono::seconds{946684800};
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  return {(std::chrono::duration_cast<microseconds>(unix_time) - postgres_epoch).count()};
}

void CommandClock::wait(std::vector<pollfd>& fds, relay::Instant until) {
  const auto left = std::chrono::ceil<relay::milliseconds>(until - now());
  const auto bounded = std::clamp<std::int64_t>(left.count(), 0, 60000);
  ::poll(fds.data(), fds.size(), static_cast<int>(bounded));
}

}  // namespace walpost::postgres
