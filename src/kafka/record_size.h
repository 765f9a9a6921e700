#pragma once

#include <cstddef>

#include "walpost/outbox/record.h"

namespace walpost::kafka {

/// Bytes of an uncompressed record batch (message format 2) that holds this record alone: what a
/// broker compares with the topic's max.message.bytes.
[[nodiscard]] std::size_t batch_bytes(const outbox::Record& record);

/// What librdkafka 2.0 allocates for a record, and for each of its headers, besides their bytes:
/// its message, its lists, and malloc's own share. Small records are mostly this.
inline constexpr std::size_t record_overhead_bytes = 256;
inline constexpr std::size_t header_overhead_bytes = 64;

/// About how much memory a record takes while it is in flight.
[[nodiscard]] std::size_t memory_bytes(const outbox::Record& record);

}  // namespace walpost::kafka
