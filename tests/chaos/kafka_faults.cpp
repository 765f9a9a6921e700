#include "chaos/chaos_world.h"

namespace walpost::test {
namespace {

// It comes back while the next faults happen; before the next broker goes all are there.
void kill_broker(ChaosWorld& world) {
  KafkaBroker& broker = world.any_broker();
  broker.kill();
  world.chance.let_pass(0, 500);
  broker.launch();
}

void bounce_broker(ChaosWorld& world) {
  KafkaBroker& broker = world.any_broker();
  broker.stop();
  broker.launch();
}

void pause_broker(ChaosWorld& world) {
  KafkaBroker& broker = world.any_broker();
  broker.pause();
  world.chance.let_pass(200, 2500);
  broker.resume();
}

void pause_all_brokers(ChaosWorld& world) {
  KafkaCluster& cluster = world.cluster;
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).pause();
  world.chance.let_pass(200, 1500);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).resume();
}

void kill_all_brokers(ChaosWorld& world) {
  KafkaCluster& cluster = world.cluster;
  cluster.await_ready();
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).kill();
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).launch();
}

}  // namespace

std::vector<Fault> kafka_faults() {
  return {{"broker killed", kill_broker},
          {"broker bounced", bounce_broker},
          {"broker paused", pause_broker},
          {"all brokers paused", pause_all_brokers},
          {"all brokers killed", kill_all_brokers}};
}

}  // namespace walpost::test
