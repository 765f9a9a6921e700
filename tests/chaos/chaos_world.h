#pragma once

#include <map>
#include <string>
#include <vector>

#include "chaos/chance.h"
#include "chaos/checker.h"
#include "chaos/faults.h"
#include "chaos/instances.h"
#include "chaos/writers.h"
#include "integration/outbox_world.h"
#include "support/kafka_cluster.h"
#include "support/tcp_proxy.h"

namespace walpost::test {

/// Two instances of walpost on one slot, PostgreSQL and three brokers each behind a network that
/// can break, and an application that writes all the time to two outbox tables, each with a topic
/// of its own. One fault after the other is applied; after each, everything committed so far must
/// come to be published and confirmed.
class ChaosWorld {
 public:
  /// `only`: no fault whose name doesn't contain it.
  ChaosWorld(std::uint64_t seed, const std::string& only);

  /// Applies the next fault and heals it. Each kind comes once before any comes again. Its name.
  std::string round();
  /// Waits until what was committed before the call is confirmed and in its topic. Throws, with
  /// what is wrong and the logs, if it isn't by the deadline.
  void catch_up(Deadline deadline);
  /// Stops the writers, lets everything come to rest, stops both instances, and counts.
  [[nodiscard]] Tally finish();

  [[nodiscard]] const std::map<std::string, int>& faults() const { return faults_; }

  // For the faults.
  [[nodiscard]] PostgresServer& server() { return outbox_.server; }
  /// Waits until all are there.
  [[nodiscard]] KafkaBroker& any_broker();
  [[nodiscard]] const std::string& topic() const { return outbox_.topic; }
  [[nodiscard]] std::string doomed_topic() const { return outbox_.topic + "-doomed"; }
  /// A mark of CommitOrder that begins so and is like none before.
  [[nodiscard]] std::string new_mark(const std::string& beginning);
  void make_doomed_topic();
  void delete_doomed_topic();
  void set_max_message_bytes(std::size_t bytes);
  /// `walpost init` for both tables.
  void init();

  Chance chance;
  KafkaCluster cluster;

 private:
  [[nodiscard]] WalpostOptions arguments() const;
  void prepare();
  Fault next_fault();
  [[noreturn]] void fail_with(const std::string& what) const;

  OutboxWorld outbox_;

 public:
  TcpProxy postgres_network;
  Checker checker;
  Instances instances;
  Writers writers;

 private:
  std::vector<Fault> all_;
  std::vector<Fault> deck_;  ///< those still to come before any comes again
  std::map<std::string, int> faults_;
  int marks_ = 0;
};

}  // namespace walpost::test
