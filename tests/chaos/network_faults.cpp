#include <functional>
#include <stdexcept>

#include "chaos/chaos_world.h"

namespace walpost::test {
namespace {

constexpr std::size_t all = 1000;  // brokers, as an index of one

void on_brokers(ChaosWorld& world, const std::function<void(TcpProxy&)>& change, std::size_t only) {
  for (std::size_t i = 0; i < world.cluster.size(); ++i)
    if (only == all || only == i) change(world.cluster.network(i));
}

std::size_t one_or_all(ChaosWorld& world) {
  return world.chance.one_in(2) ? all : world.chance.below(world.cluster.size());
}

void cut_postgres(ChaosWorld& world) {
  world.postgres_network.cut();
}

void cut_postgres_in_a_message(ChaosWorld& world) {
  world.postgres_network.cut_after(world.chance.below(100000));
}

void stall_postgres(ChaosWorld& world) {
  world.postgres_network.stall();
  world.chance.let_pass(300, 2500);
  if (world.chance.one_in(2)) world.postgres_network.cut();
  world.postgres_network.resume();
}

void slow_postgres(ChaosWorld& world) {
  world.postgres_network.delay(milliseconds(10 + world.chance.below(150)));
  world.chance.let_pass(300, 1000);
  world.postgres_network.delay(milliseconds(0));
}

void cut_brokers(ChaosWorld& world) {
  on_brokers(
      world, [](TcpProxy& network) { network.cut(); }, one_or_all(world));
}

void cut_brokers_in_a_message(ChaosWorld& world) {
  const auto change = [&](TcpProxy& network) { network.cut_after(world.chance.below(500)); };
  on_brokers(world, change, one_or_all(world));
}

void stall_brokers(ChaosWorld& world) {
  const std::size_t which = one_or_all(world);
  on_brokers(
      world, [](TcpProxy& network) { network.stall(); }, which);
  world.chance.let_pass(300, 2000);
  const bool gone = world.chance.one_in(2);
  const auto heal = [&](TcpProxy& network) {
    if (gone) network.cut();
    network.resume();
  };
  on_brokers(world, heal, which);
}

void slow_brokers(ChaosWorld& world) {
  const std::size_t which = one_or_all(world);
  const milliseconds latency(10 + world.chance.below(150));
  on_brokers(
      world, [&](TcpProxy& network) { network.delay(latency); }, which);
  world.chance.let_pass(300, 1000);
  on_brokers(
      world, [](TcpProxy& network) { network.delay(milliseconds(0)); }, which);
}

std::size_t acknowledgements_lost(ChaosWorld& world) {
  std::size_t lost = 0;
  for (std::size_t i = 0; i < world.cluster.size(); ++i)
    lost += world.cluster.network(i).acknowledgements_lost();
  return lost;
}

// The records are in the log and the producer can't know.
void lose_acknowledgements(ChaosWorld& world) {
  for (std::size_t left = 1 + world.chance.below(3); left > 0; --left) {
    const std::size_t before = acknowledgements_lost(world);
    on_brokers(
        world, [](TcpProxy& network) { network.lose_acknowledgement(true); }, all);
    const bool lost = eventually([&] { return acknowledgements_lost(world) > before; },
                                 Deadline::in(milliseconds(20000)));
    on_brokers(
        world, [](TcpProxy& network) { network.lose_acknowledgement(false); }, all);
    if (!lost) throw std::runtime_error("nothing is produced whose acknowledgement could be lost");
  }
}

}  // namespace

std::vector<Fault> network_faults() {
  return {{"network of PostgreSQL cut", cut_postgres},
          {"network of PostgreSQL cut in a message", cut_postgres_in_a_message},
          {"network of PostgreSQL half-open", stall_postgres},
          {"network of PostgreSQL slow", slow_postgres},
          {"network of brokers cut", cut_brokers},
          {"network of brokers cut in a message", cut_brokers_in_a_message},
          {"network of brokers half-open", stall_brokers},
          {"network of brokers slow", slow_brokers},
          {"acknowledgement lost after append", lose_acknowledgements}};
}

}  // namespace walpost::test
