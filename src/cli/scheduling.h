#pragma once

#include "walpost/relay/clock.h"

namespace walpost::cli {

/// Lets the server go first where both want the same core: this thread, and every thread it starts
/// from here on, wakes up without interrupting what runs (SCHED_BATCH, sched(7)). Otherwise the
/// relay, woken by its timer every fraction of a millisecond, stays on the core of the very
/// walsender it reads from and stops it each time; a backlog drains 15 % faster with this on two
/// cores, and the latency at a steady rate is the same. Needs no privilege. Where it isn't allowed
/// nothing changes.
void let_the_server_go_first() noexcept;

/// Moves the calling thread to another core when its loop is behind its own schedule, which on a
/// busy machine means that it was kept waiting for its core. The price of going last (above) is to
/// wait, in the worst case for as long as the walsender has room in its socket; then the two stop
/// in turn on one core while the other is half idle, and the kernel, which balances over
/// milliseconds, leaves it so.
///
/// To be called after a wait that ended by its time, be it that the time had come before the wait
/// began: it was `due`, and it is `now`. Whether the thread moved; it may use the same cores as
/// before. Costs some 20 us if it did.
bool step_aside_if_late(relay::Instant due, relay::Instant now) noexcept;

}  // namespace walpost::cli
