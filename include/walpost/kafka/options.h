#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace walpost::kafka {

/// How a missing topic is created, if at all.
struct TopicCreation {
  int partitions = 0;          ///< >= 1
  int replication_factor = 0;  ///< >= 1
};

/// When a transaction of exactly-once delivery is committed: at the first of both.
struct TransactionLimits {
  std::chrono::milliseconds interval{100};  ///< age of its oldest event; > 0
  std::size_t events = 100000;              ///< at most what the relay lets be in flight; > 0
};

struct Options {
  /// librdkafka properties as the user gave them; may hold secrets: never log values.
  std::map<std::string, std::string> properties{{"bootstrap.servers", "localhost:9092"}};
  std::optional<TopicCreation> create_topics;  ///< nothing: a missing topic is a refusal
  std::vector<std::string> known_topics;       ///< checked as soon as the brokers can be reached
  /// A record for a topic that does not exist is refused by itself instead of ending the session,
  /// unless the topic is among `known_topics`.
  bool missing_topic_is_poison = false;
  /// The slot whose position is kept in the topic walpost.positions; empty: none is kept there.
  std::string position_slot;
  TransactionLimits transactions;  ///< of the exactly-once sink only
};

}  // namespace walpost::kafka
