#pragma once

#include <string_view>

namespace walpost::outbox {

inline constexpr std::string_view topic_name_rule =
    "1 to 249 characters of [a-zA-Z0-9._-], and not \".\" or \"..\"";

/// Whether Kafka accepts `name` as a topic's name.
/// Source: org.apache.kafka.common.internals.Topic.
[[nodiscard]] bool is_topic_name(std::string_view name);

/// Whether `text` could be a part of one.
[[nodiscard]] bool is_topic_name_part(std::string_view text);

}  // namespace walpost::outbox
