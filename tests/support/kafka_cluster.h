#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/kafka_broker.h"

namespace walpost::test {

/// Three nodes of Apache Kafka, each broker and controller: topics made here have three replicas,
/// of which two must be in sync. One node may be away at any time. 250 MB and some seconds a node.
class KafkaCluster {
 public:
  /// Returns when every node answers.
  KafkaCluster();

  [[nodiscard]] KafkaBroker& node(std::size_t index) { return *nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// All nodes, for bootstrap.servers.
  [[nodiscard]] std::string bootstrap() const;

 private:
  std::vector<std::unique_ptr<KafkaBroker>> nodes_;
};

}  // namespace walpost::test
