#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "walpost/kafka/options.h"
#include "walpost/relay/finding.h"

namespace walpost::kafka {

/// Properties that would break the delivery promise, or that librdkafka doesn't know: one sentence
/// each, naming the property and the reason. Empty when all are fine. Needs no broker.
[[nodiscard]] std::vector<std::string> property_errors(
    const std::map<std::string, std::string>& properties);

/// Every check of the Kafka side, for `walpost check`: brokers reachable, each known topic's
/// existence, partitions, in-sync replicas, sizes. Blocks for at most `timeout`. Never throws for a
/// failing check.
[[nodiscard]] std::vector<relay::Finding> check(const Options& options,
                                                std::chrono::milliseconds timeout);

}  // namespace walpost::kafka
