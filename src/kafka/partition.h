#pragma once

#include <cstdint>
#include <string_view>

#include "librdkafka.h"

namespace walpost::kafka {

/// librdkafka tells an empty key or value from an absent one by the pointer, so that it must not be
/// null. Valid as long as `bytes`.
[[nodiscard]] inline const char* present(std::string_view bytes) {
  return bytes.data() != nullptr ? bytes.data() : "";
}

/// The partition that Kafka's own producers choose for a key. `partitions` >= 1.
[[nodiscard]] inline std::int32_t partition_of(std::string_view key, const rd_kafka_topic_t* topic,
                                               int partitions) {
  return rd_kafka_msg_partitioner_murmur2(topic, present(key), key.size(), partitions, nullptr,
                                          nullptr);
}

}  // namespace walpost::kafka
