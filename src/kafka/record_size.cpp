#include "record_size.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace walpost::kafka {
namespace {

// Base offset to record count, as in Kafka's protocol guide, "Record Batch".
constexpr std::size_t batch_header_bytes = 61;
// Attributes, timestamp delta 0 and offset delta 0: a byte each.
constexpr std::size_t fixed_record_bytes = 3;

// A zigzag varint of a length takes a byte for every seven bits of twice the length.
std::size_t varint_bytes(std::uint64_t length) {
  std::size_t bytes = 1;
  for (auto rest = (length << 1) >> 7; rest > 0; rest >>= 7) ++bytes;
  return bytes;
}

std::size_t field_bytes(std::string_view field) {
  return varint_bytes(field.size()) + field.size();
}

// The length of a null is -1, one byte.
std::size_t field_bytes(const std::optional<std::string_view>& field) {
  return field ? field_bytes(*field) : 1;
}

}  // namespace

std::size_t batch_bytes(const outbox::Record& record) {
  std::size_t body = fixed_record_bytes + field_bytes(record.key) + field_bytes(record.value) +
                     varint_bytes(record.headers.size());
  for (const auto& header : record.headers) {
    body += field_bytes(header.name) + field_bytes(header.value);
  }
  return batch_header_bytes + varint_bytes(body) + body;
}

std::size_t memory_bytes(const outbox::Record& record) {
  std::size_t bytes = record_overhead_bytes + record.key.size() + record.value.value_or("").size();
  for (const auto& header : record.headers) {
    bytes += header_overhead_bytes + header.name.size() + header.value.value_or("").size();
  }
  return bytes;
}

}  // namespace walpost::kafka
