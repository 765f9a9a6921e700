#include "integration/outages.h"

#include <gtest/gtest.h>

#include <csignal>

namespace walpost::test {

void sleep_through_a_takeover(OutboxWorld& world, Walpost& asleep, Walpost& awake) {
  constexpr milliseconds patience(20000);
  const std::string before = world.confirmed_flush_lsn();
  ASSERT_TRUE(
      eventually([&] { return world.confirmed_flush_lsn() != before; }, Deadline::in(patience)));
  const std::size_t streams = awake.times_logged("streaming from slot");
  const std::size_t standbys = asleep.times_logged("standing by");
  asleep.process().signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return awake.times_logged("streaming from slot") > streams; },
                         Deadline::in(patience)))
      << awake.log();
  asleep.process().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return asleep.times_logged("standing by") > standbys; },
                         Deadline::in(patience)))
      << asleep.log();
}

void take_the_slot_back_by_a_crash(OutboxWorld& world, Walpost& walpost) {
  // The first confirmation behind a checkpoint is written at once, those after it aren't.
  world.server.exec("checkpoint");
  for (const int count : {10, 290}) {
    world.write(count);
    ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  }
  const std::string confirmed = world.confirmed_flush_lsn();
  walpost.kill();
  world.server.stop(StopMode::immediate);
  world.server.start();
  EXPECT_EQ(world.server.value("select confirmed_flush_lsn < '" + confirmed +
                               "' from pg_replication_slots where slot_name = 'walpost'"),
            "t")
      << "the crash took nothing back: the test shows nothing";
}

}  // namespace walpost::test
