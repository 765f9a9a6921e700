#include "scheduling.h"

#include <sched.h>

#include <chrono>

namespace walpost::cli {
namespace {

// Timers may be 50 us late (timer slack), and Kafka's and librdkafka's threads take a core for some
// 100 us at a time. The walsender keeps one until its socket is full, after 600 us.
constexpr std::chrono::microseconds late{200};
// Behind by more, the loop was stopped, or the wait had no time to keep.
constexpr std::chrono::milliseconds hopeless{1000};

}  // namespace

void let_the_server_go_first() noexcept {
  const sched_param unused{};
  static_cast<void>(sched_setscheduler(0, SCHED_BATCH, &unused));
}

bool step_aside_if_late(relay::Instant due, relay::Instant now) noexcept {
  if (now - late < due || now - hopeless > due) return false;
  // Asked each time: an operator may change them while the program runs.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return false;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0) return false;
  // The kernel moves a thread at once that may not stay where it is.
  const bool moved = sched_setaffinity(0, sizeof others, &others) == 0;
  return sched_setaffinity(0, sizeof allowed, &allowed) == 0 && moved;
}

}  // namespace walpost::cli
