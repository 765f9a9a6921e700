#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

namespace walpost::kafka {

/// Owners of librdkafka's objects: each is destroyed exactly once, whichever way a function is
/// left.
template <auto destroy>
struct Destroy {
  template <typename Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};

using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
using ClientHandle = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;
using AdminOptionsHandle =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using ConfigResourceHandle =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;
using NewTopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;

struct DestroyMetadata {
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, DestroyMetadata>;

}  // namespace walpost::kafka
