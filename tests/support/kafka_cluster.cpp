#include "support/kafka_cluster.h"

#include <utility>

namespace walpost::test {
namespace {

constexpr std::size_t nodes = 3;

}  // namespace

KafkaCluster::KafkaCluster() {
  std::vector<KafkaPorts> ports;
  std::string voters;
  for (std::size_t i = 0; i < nodes; ++i) {
    ports.push_back(KafkaPorts::free());
    voters += (i == 0 ? "" : ",") + std::to_string(i + 1) +
              "@127.0.0.1:" + std::to_string(ports.back().controller);
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    nodes_.push_back(std::make_unique<KafkaBroker>(
        KafkaOptions{.properties = {{"node.id", std::to_string(i + 1)},
                                    {"controller.quorum.voters", voters},
                                    {"default.replication.factor", "3"},
                                    {"min.insync.replicas", "2"},
                                    // A node that is away leaves the in-sync replicas soon.
                                    {"replica.lag.time.max.ms", "3000"},
                                    {"controller.quorum.election.timeout.ms", "500"},
                                    {"controller.quorum.fetch.timeout.ms", "1000"}},
                     .heap_mib = 256,
                     .ports = ports[i],
                     .started = false}));
  }
  for (const auto& node : nodes_) node->launch();
  for (const auto& node : nodes_) node->await_ready();
}

std::string KafkaCluster::bootstrap() const {
  std::string all;
  for (const auto& node : nodes_) all += (all.empty() ? "" : ",") + node->bootstrap();
  return all;
}

}  // namespace walpost::test
