#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "walpost/relay/failure.h"
#include "walpost/relay/finding.h"

namespace walpost::kafka {

/// The part of a topic's configuration that decides about delivery. A member is empty where the
/// broker didn't tell.
struct TopicLimits {
  std::optional<std::size_t> max_message_bytes;  ///< of a whole batch, as sent
  std::optional<int> min_insync_replicas;
  std::optional<bool> unclean_leader_election;
  std::optional<std::string> cleanup_policy;  ///< "delete", "compact", or both with a comma
};

struct TopicFacts {
  std::string name;
  std::string broker;  ///< host:port, for commands in messages
  int brokers = 0;
  int partitions = 0;
  int replication_factor = 0;
  TopicLimits limits;
};

/// What is wrong with a topic as the destination of an outbox; a single pass when nothing is.
/// `chosen_batch_bytes` is the user's batch.size, if he set one. Pure.
[[nodiscard]] std::vector<relay::Finding> judge(const TopicFacts& facts,
                                                std::optional<std::size_t> chosen_batch_bytes);

/// The same for the topic in which positions are kept.
[[nodiscard]] std::vector<relay::Finding> judge_positions(const TopicFacts& facts);

/// Why a topic can't be used at all, each with what mends it.
[[nodiscard]] relay::Finding missing_topic(const TopicFacts& facts);
[[nodiscard]] relay::Finding forbidden_topic(const TopicFacts& facts, const std::string& reason);
[[nodiscard]] relay::Finding invalid_topic(const TopicFacts& facts, const std::string& reason);
[[nodiscard]] relay::Finding failed_creation(const TopicFacts& facts, const std::string& reason);
[[nodiscard]] relay::Finding forbidden_creation(const TopicFacts& facts, const std::string& reason);

/// A failing finding as the end of a session.
[[nodiscard]] relay::SessionFailure refusal(const relay::Finding& finding);

}  // namespace walpost::kafka
