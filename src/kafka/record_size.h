#pragma once

#include <cstddef>

#include "walpost/outbox/record.h"

namespace walpost::kafka {

/// Bytes of an uncompressed record batch (message format 2) that holds this record alone: what a
/// broker compares with the topic's max.message.bytes.
[[nodiscard]] std::size_t batch_bytes(const outbox::Record& record);

/// Key, value, and names and values of headers: the memory that a record in flight takes.
[[nodiscard]] std::size_t content_bytes(const outbox::Record& record);

}  // namespace walpost::kafka
