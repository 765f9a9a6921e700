#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "walpost/outbox/record.h"
#include "walpost/relay/token.h"

namespace walpost::kafka {

/// A copy of a record that may not be handed to librdkafka yet.
struct HeldRecord {
  HeldRecord(const outbox::Record& record, relay::Token its_token, std::int32_t its_partition)
      : topic(record.topic),
        key(record.key),
        value(record.value),
        token(its_token),
        partition(its_partition) {
    headers.reserve(record.headers.size());
    for (const auto& header : record.headers) headers.emplace_back(header.name, header.value);
  }

  std::string topic;
  std::string key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  relay::Token token;
  std::int32_t partition;
};

}  // namespace walpost::kafka
