#include "cluster_queries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string_view>

#include "delivery_errors.h"

namespace walpost::kafka {
namespace {

std::string text(const char* words, rd_kafka_resp_err_t error) {
  return words != nullptr ? words : rd_kafka_err2str(error);
}

MetadataAnswer::Kind kind_of(rd_kafka_resp_err_t error) {
  using Kind = MetadataAnswer::Kind;
  switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      return Kind::found;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return Kind::missing;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return Kind::unauthorized;
    default:
      if (is_unreachable(error)) return Kind::unreachable;
      return is_passing(error) ? Kind::passing : Kind::invalid;
  }
}

void read_topic(const rd_kafka_metadata_topic& topic, MetadataAnswer& answer) {
  answer.kind = kind_of(topic.err);
  answer.reason = rd_kafka_err2str(topic.err);
  answer.partitions = topic.partition_cnt;
  // A topic being created is listed before its partitions are.
  if (answer.kind == MetadataAnswer::Kind::found && topic.partition_cnt == 0) {
    answer.kind = MetadataAnswer::Kind::passing;
  }
  for (int i = 0; i < topic.partition_cnt; ++i) {
    const int replicas = topic.partitions[i].replica_cnt;
    answer.replication_factor = i == 0 ? replicas : std::min(answer.replication_factor, replicas);
  }
}

template <typename Number>
std::optional<Number> number(std::string_view digits) {
  Number value{};
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

void read_entry(const rd_kafka_ConfigEntry_t* entry, TopicLimits& limits) {
  const std::string_view name = rd_kafka_ConfigEntry_name(entry);
  const char* value = rd_kafka_ConfigEntry_value(entry);
  if (value == nullptr) return;
  if (name == "max.message.bytes") limits.max_message_bytes = number<std::size_t>(value);
  if (name == "min.insync.replicas") limits.min_insync_replicas = number<int>(value);
  if (name == "unclean.leader.election.enable") {
    limits.unclean_leader_election = std::string_view(value) == "true";
  }
  if (name == "cleanup.policy") limits.cleanup_policy = value;
}

LimitsAnswer::Topic read_resource(const rd_kafka_ConfigResource_t* resource) {
  LimitsAnswer::Topic topic;
  topic.name = rd_kafka_ConfigResource_name(resource);
  topic.error = rd_kafka_ConfigResource_error(resource);
  if (topic.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    topic.reason = text(rd_kafka_ConfigResource_error_string(resource), topic.error);
  }
  std::size_t count = 0;
  const auto* entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (std::size_t i = 0; i < count; ++i) read_entry(entries[i], topic.limits);
  return topic;
}

AdminOptionsHandle admin_options(const Producer& producer, rd_kafka_admin_op_t operation,
                                 std::chrono::milliseconds timeout) {
  AdminOptionsHandle options(rd_kafka_AdminOptions_new(producer.client(), operation));
  std::array<char, 256> reason{};
  // Fails only for a timeout beyond an hour; the default would do then.
  rd_kafka_AdminOptions_set_request_timeout(options.get(), static_cast<int>(timeout.count()),
                                            reason.data(), reason.size());
  return options;
}

}  // namespace

bool has_met_cluster(const Producer& producer) {
  struct Free {
    rd_kafka_t* client;
    void operator()(char* id) const { rd_kafka_mem_free(client, id); }
  };
  const std::unique_ptr<char, Free> id(rd_kafka_clusterid(producer.client(), 0),
                                       Free{producer.client()});
  return id != nullptr;
}

MetadataAnswer ask_metadata(rd_kafka_t* client, rd_kafka_topic_t* topic,
                            std::chrono::milliseconds timeout) {
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error = rd_kafka_metadata(client, 0, topic, &raw, static_cast<int>(timeout.count()));
  const MetadataHandle metadata(raw);
  MetadataAnswer answer;
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    answer.kind = kind_of(error);
    answer.reason = rd_kafka_err2str(error);
    return answer;
  }
  answer.brokers = metadata->broker_cnt;
  if (metadata->broker_cnt > 0) {
    answer.broker_id = metadata->brokers[0].id;
    answer.broker =
        std::string(metadata->brokers[0].host) + ":" + std::to_string(metadata->brokers[0].port);
  }
  answer.kind = topic == nullptr ? MetadataAnswer::Kind::found : MetadataAnswer::Kind::passing;
  // A broker that knows of no broker, itself included, is only starting: it knows no topics either.
  if (metadata->topic_cnt == 1 && metadata->broker_cnt > 0) read_topic(metadata->topics[0], answer);
  return answer;
}

void ask_limits(const Producer& producer, int broker_id, const std::vector<std::string>& topics,
                std::chrono::milliseconds timeout) {
  std::vector<ConfigResourceHandle> owners;
  std::vector<rd_kafka_ConfigResource_t*> resources;
  for (const auto& topic : topics) {
    owners.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    resources.push_back(owners.back().get());
  }
  const auto options = admin_options(producer, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout);
  std::array<char, 256> reason{};
  // Fails only for an operation that can't be sent anywhere but to the controller.
  rd_kafka_AdminOptions_set_broker(options.get(), broker_id, reason.data(), reason.size());
  rd_kafka_DescribeConfigs(producer.client(), resources.data(), resources.size(), options.get(),
                           producer.queue());
}

LimitsAnswer read_limits(rd_kafka_event_t* event) {
  LimitsAnswer answer;
  answer.error = rd_kafka_event_error(event);
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    answer.reason = text(rd_kafka_event_error_string(event), answer.error);
    return answer;
  }
  std::size_t count = 0;
  const auto* resources = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event), &count);
  for (std::size_t i = 0; i < count; ++i) answer.topics.push_back(read_resource(resources[i]));
  return answer;
}

std::optional<CreationAnswer> ask_creation(const Producer& producer, const NewTopic& topic,
                                           std::chrono::milliseconds timeout) {
  std::array<char, 256> reason{};
  const NewTopicHandle wish(rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions,
                                                  topic.replication_factor, reason.data(),
                                                  reason.size()));
  if (!wish) return CreationAnswer{topic.name, RD_KAFKA_RESP_ERR__INVALID_ARG, reason.data()};
  for (const auto& [name, value] : topic.configs)
    rd_kafka_NewTopic_set_config(wish.get(), name.c_str(), value.c_str());
  const auto options = admin_options(producer, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout);
  auto* wishes = wish.get();
  rd_kafka_CreateTopics(producer.client(), &wishes, 1, options.get(), producer.queue());
  return std::nullopt;
}

CreationAnswer read_creation(rd_kafka_event_t* event) {
  CreationAnswer answer;
  answer.error = rd_kafka_event_error(event);
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    answer.reason = text(rd_kafka_event_error_string(event), answer.error);
    return answer;
  }
  std::size_t count = 0;
  const auto* topics =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  if (count == 0) return answer;
  answer.topic = rd_kafka_topic_result_name(topics[0]);
  answer.error = rd_kafka_topic_result_error(topics[0]);
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    answer.reason = text(rd_kafka_topic_result_error_string(topics[0]), answer.error);
  }
  return answer;
}

}  // namespace walpost::kafka
