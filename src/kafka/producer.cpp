#include "producer.h"

#include <unistd.h>

#include <array>
#include <cstdint>

#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

constexpr std::uint64_t wake_up_once = 1;  // librdkafka copies it and writes it to the eventfd

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::kafka, what, mend);
}

ConfHandle make_conf(const ProducerProperties& properties) {
  ConfHandle conf(rd_kafka_conf_new());
  std::array<char, 512> reason{};
  for (const auto& [name, value] : properties.values) {
    const auto result =
        rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(), reason.size());
    // The reason may repeat the value, which may be a secret.
    if (result != RD_KAFKA_CONF_OK) {
      refuse("librdkafka doesn't accept the property kafka." + name, "correct or remove it");
    }
  }
  rd_kafka_conf_set_events(
      conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG |
                      RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT | RD_KAFKA_EVENT_CREATETOPICS_RESULT);
  return conf;
}

ClientHandle make_client(const ProducerProperties& properties) {
  auto conf = make_conf(properties);
  std::array<char, 512> reason{};
  ClientHandle client(rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), reason.data(), reason.size()));
  if (!client) {
    refuse("librdkafka can't create a producer: " + std::string(reason.data()),
           "correct the properties under kafka");
  }
  // The client owns the configuration from here on.
  static_cast<void>(conf.release());  // NOLINT(bugprone-unused-return-value)
  return client;
}

}  // namespace

Producer::Producer(const ProducerProperties& properties, int event_fd)
    : client_(make_client(properties)), queue_(rd_kafka_queue_get_main(client_.get())) {
  rd_kafka_set_log_queue(client_.get(), nullptr);  // nullptr: logs join the main queue
  rd_kafka_queue_io_event_enable(queue_.get(), event_fd, &wake_up_once, sizeof wake_up_once);
  // The descriptor is written only when the queue becomes non-empty or was polled since. A line
  // logged before this point would keep it silent for ever, so the first poll must come unasked.
  [[maybe_unused]] const auto size = write(event_fd, &wake_up_once, sizeof wake_up_once);
}

Producer::~Producer() {
  rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

EventHandle Producer::next_event(std::chrono::milliseconds wait) const {
  return EventHandle(rd_kafka_queue_poll(queue_.get(), static_cast<int>(wait.count())));
}

TopicHandle Producer::topic(const std::string& name, void* owner) const {
  auto* conf = rd_kafka_default_topic_conf_dup(client_.get());
  rd_kafka_topic_conf_set_opaque(conf, owner);
  // Takes the configuration over, also when it fails.
  TopicHandle topic(rd_kafka_topic_new(client_.get(), name.c_str(), conf));
  if (!topic) {
    refuse("\"" + name +
               "\" can't be a Kafka topic: " + std::string(rd_kafka_err2str(rd_kafka_last_error())),
           "correct route.topic or route.topics");
  }
  return topic;
}

}  // namespace walpost::kafka
