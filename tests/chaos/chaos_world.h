#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chaos/writers.h"
#include "integration/outbox_world.h"
#include "support/kafka_cluster.h"
#include "support/tcp_proxy.h"

namespace walpost::test {

/// Two instances of walpost on one slot, PostgreSQL behind a network that can break, three brokers,
/// and an application that writes all the time. One fault after the other is applied; after each,
/// everything committed so far must come to be confirmed.
class ChaosWorld {
 public:
  explicit ChaosWorld(std::uint64_t seed);

  /// Applies a fault drawn by chance and heals it. Its name.
  std::string round();
  /// Whether what was committed before the call is confirmed within the deadline.
  [[nodiscard]] bool catches_up(Deadline deadline);
  /// Stops the writers, lets everything come to rest, stops both instances, and compares.
  [[nodiscard]] Comparison finish();

  [[nodiscard]] std::string logs() const;
  [[nodiscard]] const std::map<std::string, int>& faults() const { return faults_; }

 private:
  struct Fault {
    const char* name;
    void (ChaosWorld::*apply)();
  };
  static const std::vector<Fault>& all_faults();

  void kill_instance();
  void stop_instance();
  void sleep_through_takeover();
  void kill_broker();
  void bounce_broker();
  void pause_broker();
  void pause_all_brokers();
  void kill_all_brokers();
  void crash_server();
  void stop_server();
  void terminate_walsender();
  void cut_network();
  void cut_network_in_a_message();
  void stall_network();

  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  void let_pass(std::size_t least, std::size_t most);
  KafkaBroker& any_broker() { return cluster_.node(below(cluster_.size())); }
  /// The instance that holds the slot, else any.
  std::unique_ptr<Walpost>& holder();
  [[nodiscard]] std::unique_ptr<Walpost> start_instance() const;
  void revive_instances();

  std::mt19937_64 random_;
  KafkaCluster cluster_;
  OutboxWorld world_;
  TcpProxy network_;
  std::vector<std::unique_ptr<Walpost>> instances_;
  std::unique_ptr<Writers> writers_;
  std::map<std::string, int> faults_;
};

}  // namespace walpost::test
