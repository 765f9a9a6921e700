#include "support/kafka_cluster.h"

#include <utility>

#include "support/free_port.h"

namespace walpost::test {
namespace {

constexpr std::size_t nodes = 3;

std::string local(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

// A node that is away leaves the in-sync replicas soon.
std::map<std::string, std::string> node_properties(std::size_t index, const std::string& voters) {
  return {{"node.id", std::to_string(index + 1)},
          {"controller.quorum.voters", voters},
          {"default.replication.factor", "3"},
          {"min.insync.replicas", "2"},
          {"replica.lag.time.max.ms", "3000"},
          {"controller.quorum.election.timeout.ms", "500"},
          {"controller.quorum.fetch.timeout.ms", "1000"}};
}

}  // namespace

KafkaCluster::KafkaCluster(const KafkaClusterOptions& options) {
  std::vector<KafkaPorts> ports;
  std::string voters;
  for (std::size_t i = 0; i < nodes; ++i) {
    ports.push_back(KafkaPorts::free());
    voters += (i == 0 ? "" : ",") + std::to_string(i + 1) + "@" + local(ports.back().controller);
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    auto properties = node_properties(i, voters);
    if (options.breakable_network) properties.merge(client_listener(ports[i]));
    for (const auto& [name, value] : options.properties) properties[name] = value;
    nodes_.push_back(std::make_unique<KafkaBroker>(KafkaOptions{
        .properties = properties, .heap_mib = 256, .ports = ports[i], .started = false}));
  }
  for (const auto& node : nodes_) node->launch();
  await_ready();
}

void KafkaCluster::await_ready() {
  for (const auto& node : nodes_) node->await_ready();
}

std::map<std::string, std::string> KafkaCluster::client_listener(const KafkaPorts& ports) {
  const std::uint16_t port = free_port();
  networks_.push_back(std::make_unique<TcpProxy>(port, TcpProxy::Carries::kafka));
  const std::string direct = "PLAINTEXT://" + local(ports.broker);
  return {{"listeners",
           direct + ",CLIENT://" + local(port) + ",CONTROLLER://" + local(ports.controller)},
          {"advertised.listeners", direct + ",CLIENT://" + local(networks_.back()->port())},
          {"listener.security.protocol.map",
           "PLAINTEXT:PLAINTEXT,CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"},
          {"inter.broker.listener.name", "PLAINTEXT"},
          {"listener.name.client.sasl.enabled.mechanisms", "PLAIN"},
          {"listener.name.client.plain.sasl.jaas.config",
           "org.apache.kafka.common.security.plain.PlainLoginModule required user_" +
               std::string(client_user) + "=\"" + client_password + "\";"},
          {"authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
          {"allow.everyone.if.no.acl.found", "true"},
          // The nodes themselves, and whoever connects beside the network.
          {"super.users", "User:ANONYMOUS"}};
}

std::string KafkaCluster::bootstrap() const {
  std::string all;
  for (const auto& node : nodes_) all += (all.empty() ? "" : ",") + node->bootstrap();
  return all;
}

std::string KafkaCluster::client_bootstrap() const {
  std::string all;
  for (const auto& network : networks_) all += (all.empty() ? "" : ",") + local(network->port());
  return all;
}

}  // namespace walpost::test
