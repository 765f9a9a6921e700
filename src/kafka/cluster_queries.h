#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "librdkafka.h"
#include "producer.h"
#include "topic_facts.h"

namespace walpost::kafka {

/// Whether a broker has answered this producer already. Never blocks.
[[nodiscard]] bool has_met_cluster(const Producer& producer);

/// What the cluster says about one topic.
struct MetadataAnswer {
  enum class Kind {
    found,
    missing,
    unauthorized,  ///< this user may not even describe the topic
    invalid,       ///< not a legal topic name, or another lasting error
    passing,       ///< the cluster is in transition
    unreachable,   ///< no broker answered in time
  };
  Kind kind = Kind::unreachable;
  std::string reason;  ///< librdkafka's words, where `kind` isn't found
  int broker_id = -1;  ///< of a broker that is up
  std::string broker;  ///< its host:port, for commands in messages
  int brokers = 0;
  int partitions = 0;
  int replication_factor = 0;  ///< of the partition that has the fewest replicas
};

/// Blocks for at most `timeout`. Makes the client know the topic's partitions. Without a topic:
/// just whether a broker answers.
[[nodiscard]] MetadataAnswer ask_metadata(rd_kafka_t* client, rd_kafka_topic_t* topic,
                                          std::chrono::milliseconds timeout);

/// The answer to ask_limits(). `error` concerns the whole request; then `topics` is empty.
struct LimitsAnswer {
  struct Topic {
    std::string name;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    std::string reason;
    TopicLimits limits;
  };
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string reason;
  std::vector<Topic> topics;
};

/// Asks a broker for the topics' configurations (DescribeConfigs). The answer comes as an event.
/// Any broker knows them; to leave the choice to librdkafka would be to depend on the controller.
void ask_limits(const Producer& producer, int broker_id, const std::vector<std::string>& topics,
                std::chrono::milliseconds timeout);
[[nodiscard]] LimitsAnswer read_limits(rd_kafka_event_t* event);

/// A topic to be made.
struct NewTopic {
  std::string name;
  int partitions = 0;
  int replication_factor = 0;                                ///< -1: the broker's default
  std::vector<std::pair<std::string, std::string>> configs;  ///< settings of its own
};

/// The answer to ask_creation(). `topic` is empty where `error` concerns the whole request.
struct CreationAnswer {
  std::string topic;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string reason;
};

/// Asks for a topic (CreateTopics). The answer comes as an event, or at once if the wish is
/// invalid.
[[nodiscard]] std::optional<CreationAnswer> ask_creation(const Producer& producer,
                                                         const NewTopic& topic,
                                                         std::chrono::milliseconds timeout);
[[nodiscard]] CreationAnswer read_creation(rd_kafka_event_t* event);

}  // namespace walpost::kafka
