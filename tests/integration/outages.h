#pragma once

#include "integration/outbox_world.h"

/// What befalls instances and servers in more than one test. Each reports its own test failures.
namespace walpost::test {

/// `asleep`, which holds the slot, is stopped for longer than wal_sender_timeout and wakes once
/// `awake` streams; returns when it has noticed.
void sleep_through_a_takeover(OutboxWorld& world, Walpost& asleep, Walpost& awake);

/// Has 300 events published and confirmed, kills `walpost`, and crashes the server so that its slot
/// goes back over some of them. REQUIRES: a durable server.
void take_the_slot_back_by_a_crash(OutboxWorld& world, Walpost& walpost);

}  // namespace walpost::test
