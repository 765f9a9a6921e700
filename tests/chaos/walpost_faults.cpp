#include <csignal>
#include <stdexcept>

#include "chaos/chaos_world.h"

namespace walpost::test {
namespace {

void kill_holder(ChaosWorld& world) {
  world.instances.holder().kill();
}

void kill_both(ChaosWorld& world) {
  world.instances.kill_all();
}

void stop_holder(ChaosWorld& world) {
  Walpost& instance = world.instances.holder();
  if (instance.stop() != exited(0))
    throw std::runtime_error("a stop didn't end well\n" + instance.log());
}

void sleep_through_takeover(ChaosWorld& world) {
  Walpost& asleep = world.instances.holder();
  asleep.process().signal(SIGSTOP);
  world.chance.let_pass(1300, 2500);  // wal_sender_timeout is 1 s
  asleep.process().signal(SIGCONT);
}

}  // namespace

std::vector<Fault> walpost_faults() {
  return {{"walpost killed", kill_holder},
          {"both instances of walpost killed", kill_both},
          {"walpost stopped", stop_holder},
          {"walpost asleep through a takeover", sleep_through_takeover}};
}

}  // namespace walpost::test
