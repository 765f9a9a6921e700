#pragma once

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

struct Options {
  /// librdkafka properties as the user gave them; may hold secrets: never log values.
  std::map<std::string, std::string> properties{{"bootstrap.servers", "localhost:9092"}};
  std::optional<TopicCreation> create_topics;  ///< nothing: a missing topic is a refusal
  std::vector<std::string> known_topics;       ///< checked as soon as the brokers can be reached
  /// A record for a topic that does not exist is refused by itself instead of ending the session,
  /// unless the topic is among `known_topics`.
  bool missing_topic_is_poison = false;
};

}  // namespace walpost::kafka
