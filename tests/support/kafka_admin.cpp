#include "support/kafka_admin.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace walpost::test {
namespace {

constexpr int brokers_choice = -1;  // of replicas: default.replication.factor

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_DeleteTopic_t* topic) const { rd_kafka_DeleteTopic_destroy(topic); }
  void operator()(rd_kafka_ConfigResource_t* resource) const {
    rd_kafka_ConfigResource_destroy(resource);
  }
  void operator()(rd_kafka_AclBinding_t* binding) const { rd_kafka_AclBinding_destroy(binding); }
  void operator()(rd_kafka_AdminOptions_t* options) const {
    rd_kafka_AdminOptions_destroy(options);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

Owned<rd_kafka_t> client_of(const std::string& bootstrap) {
  std::array<char, 256> error{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), error.data(), error.size());
  rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", error.data(), error.size());
  rd_kafka_conf_set(conf, "log_level", "0", error.data(), error.size());
  Owned<rd_kafka_t> client(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error.data(), error.size()));
  if (!client) throw std::runtime_error(error.data());
  return client;
}

Owned<rd_kafka_AdminOptions_t> admin_options(rd_kafka_t* client, rd_kafka_admin_op_t operation,
                                             Deadline deadline) {
  std::array<char, 256> error{};
  Owned<rd_kafka_AdminOptions_t> options(rd_kafka_AdminOptions_new(client, operation));
  const int limit = static_cast<int>(deadline.left().count());
  rd_kafka_AdminOptions_set_operation_timeout(options.get(), limit, error.data(), error.size());
  rd_kafka_AdminOptions_set_request_timeout(options.get(), limit, error.data(), error.size());
  return options;
}

Owned<rd_kafka_event_t> answer_of(rd_kafka_queue_t* queue, const std::string& topic,
                                  Deadline deadline) {
  Owned<rd_kafka_event_t> event(
      rd_kafka_queue_poll(queue, static_cast<int>(deadline.left().count())));
  if (!event) throw std::runtime_error("no answer from Kafka for topic " + topic);
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error(topic + ": " + rd_kafka_event_error_string(event.get()));
  return event;
}

/// One topic's outcome of its creation or deletion.
void check_outcome(rd_kafka_event_t* event, const std::string& topic) {
  std::size_t count = 0;
  const rd_kafka_topic_result_t** results = nullptr;
  if (const auto* created = rd_kafka_event_CreateTopics_result(event))
    results = rd_kafka_CreateTopics_result_topics(created, &count);
  else if (const auto* gone = rd_kafka_event_DeleteTopics_result(event))
    results = rd_kafka_DeleteTopics_result_topics(gone, &count);
  if (count != 1) throw std::runtime_error("Kafka gave no outcome for topic " + topic);
  if (rd_kafka_topic_result_error(results[0]) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* reason = rd_kafka_topic_result_error_string(results[0]);
  throw std::runtime_error(topic + ": " + (reason != nullptr ? reason : "refused"));
}

Owned<rd_kafka_AclBinding_t> binding_of(const std::string& topic, Right right, bool as_filter) {
  std::array<char, 256> error{};
  const auto operation =
      right == Right::write_denied ? RD_KAFKA_ACL_OPERATION_WRITE : RD_KAFKA_ACL_OPERATION_ALL;
  const auto permission = right == Right::all_allowed ? RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW
                                                      : RD_KAFKA_ACL_PERMISSION_TYPE_DENY;
  const auto make = as_filter ? rd_kafka_AclBindingFilter_new : rd_kafka_AclBinding_new;
  Owned<rd_kafka_AclBinding_t> binding(make(RD_KAFKA_RESOURCE_TOPIC, topic.c_str(),
                                            RD_KAFKA_RESOURCE_PATTERN_LITERAL, "User:*", "*",
                                            operation, permission, error.data(), error.size()));
  if (!binding) throw std::runtime_error(error.data());
  return binding;
}

}  // namespace

bool broker_answers(const std::string& bootstrap) {
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client.get(), 0, nullptr, &metadata, 1000) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return false;
  const bool known = metadata->broker_cnt > 0;
  rd_kafka_metadata_destroy(metadata);
  return known;
}

void create_topic(const std::string& bootstrap, const std::string& name, int partitions,
                  const std::map<std::string, std::string>& configs, Deadline deadline) {
  std::array<char, 256> error{};
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  const Owned<rd_kafka_NewTopic_t> topic(
      rd_kafka_NewTopic_new(name.c_str(), partitions, brokers_choice, error.data(), error.size()));
  if (!topic) throw std::runtime_error(error.data());
  for (const auto& [setting, value] : configs)
    rd_kafka_NewTopic_set_config(topic.get(), setting.c_str(), value.c_str());
  const auto options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_CREATETOPICS, deadline);
  std::array<rd_kafka_NewTopic_t*, 1> topics{topic.get()};
  rd_kafka_CreateTopics(client.get(), topics.data(), topics.size(), options.get(), queue.get());
  check_outcome(answer_of(queue.get(), name, deadline).get(), name);
}

void delete_topic(const std::string& bootstrap, const std::string& name, Deadline deadline) {
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  const Owned<rd_kafka_DeleteTopic_t> topic(rd_kafka_DeleteTopic_new(name.c_str()));
  const auto options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_DELETETOPICS, deadline);
  std::array<rd_kafka_DeleteTopic_t*, 1> topics{topic.get()};
  rd_kafka_DeleteTopics(client.get(), topics.data(), topics.size(), options.get(), queue.get());
  check_outcome(answer_of(queue.get(), name, deadline).get(), name);
}

void set_topic_configs(const std::string& bootstrap, const std::string& name,
                       const std::map<std::string, std::string>& configs, Deadline deadline) {
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  const Owned<rd_kafka_ConfigResource_t> topic(
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str()));
  for (const auto& [setting, value] : configs)
    rd_kafka_ConfigResource_set_config(topic.get(), setting.c_str(), value.c_str());
  const auto options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_ALTERCONFIGS, deadline);
  std::array<rd_kafka_ConfigResource_t*, 1> topics{topic.get()};
  rd_kafka_AlterConfigs(client.get(), topics.data(), topics.size(), options.get(), queue.get());
  const auto event = answer_of(queue.get(), name, deadline);
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** results = rd_kafka_AlterConfigs_result_resources(
      rd_kafka_event_AlterConfigs_result(event.get()), &count);
  if (count != 1 || rd_kafka_ConfigResource_error(results[0]) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("the settings of topic " + name + " can't be altered");
}

void grant(const std::string& bootstrap, const std::string& topic, Right right, Deadline deadline) {
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  const Owned<rd_kafka_AclBinding_t> binding = binding_of(topic, right, false);
  const auto options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_CREATEACLS, deadline);
  std::array<rd_kafka_AclBinding_t*, 1> bindings{binding.get()};
  rd_kafka_CreateAcls(client.get(), bindings.data(), bindings.size(), options.get(), queue.get());
  const auto event = answer_of(queue.get(), topic, deadline);
  std::size_t count = 0;
  const rd_kafka_acl_result_t** results =
      rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event.get()), &count);
  if (count != 1 || rd_kafka_acl_result_error(results[0]) != nullptr)
    throw std::runtime_error("the right on topic " + topic + " can't be granted");
}

void revoke(const std::string& bootstrap, const std::string& topic, Right right,
            Deadline deadline) {
  const Owned<rd_kafka_t> client = client_of(bootstrap);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  const Owned<rd_kafka_AclBinding_t> filter = binding_of(topic, right, true);
  const auto options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_DELETEACLS, deadline);
  std::array<rd_kafka_AclBindingFilter_t*, 1> filters{filter.get()};
  rd_kafka_DeleteAcls(client.get(), filters.data(), filters.size(), options.get(), queue.get());
  const auto event = answer_of(queue.get(), topic, deadline);
  std::size_t count = 0;
  const rd_kafka_DeleteAcls_result_response_t** results =
      rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event.get()), &count);
  if (count != 1 || rd_kafka_DeleteAcls_result_response_error(results[0]) != nullptr)
    throw std::runtime_error("the right on topic " + topic + " can't be revoked");
}

}  // namespace walpost::test
