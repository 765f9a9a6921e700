#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/kafka_broker.h"
#include "support/tcp_proxy.h"

namespace walpost::test {

struct KafkaClusterOptions {
  std::map<std::string, std::string> properties = {};  ///< of every node, over the defaults here
  /// Makes network() and client_bootstrap(), and an authorizer with rights for `client_user`; who
  /// connects beside that network has all rights.
  bool breakable_network = false;
};

/// Three nodes of Apache Kafka, each broker and controller: topics made here have three replicas,
/// of which two must be in sync. One node may be away at any time. 250 MB and some seconds a node.
class KafkaCluster {
 public:
  /// Returns when every node answers.
  explicit KafkaCluster(const KafkaClusterOptions& options = {});

  /// Returns when every node answers, after some of them were launched again.
  void await_ready();

  [[nodiscard]] KafkaBroker& node(std::size_t index) { return *nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// All nodes, for bootstrap.servers; never through a network that can break.
  [[nodiscard]] std::string bootstrap() const;
  /// The same through the networks, which are also all that such a client is told of. It has to log
  /// in by SASL_PLAINTEXT and PLAIN.
  [[nodiscard]] std::string client_bootstrap() const;
  static constexpr const char* client_user = "walpost";
  static constexpr const char* client_password = "secret";
  /// Between a node and its clients; the nodes talk to each other beside it.
  [[nodiscard]] TcpProxy& network(std::size_t index) { return *networks_[index]; }

 private:
  std::map<std::string, std::string> client_listener(const KafkaPorts& ports);

  std::vector<std::unique_ptr<KafkaBroker>> nodes_;
  std::vector<std::unique_ptr<TcpProxy>> networks_;
};

}  // namespace walpost::test
