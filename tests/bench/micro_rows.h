#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Messages of the table app.outbox (id, aggregate_type, aggregate_id, event_type, payload,
/// headers, created_at), byte by byte as the protocol chapter has them.
namespace walpost::micro {

enum class Payload {
  json,   ///< jsonb: published as sent
  bytea,  ///< sent as two digits a byte: published as the bytes
};

struct RowShape {
  Payload payload = Payload::json;
  std::size_t payload_bytes = 400;  ///< of what is published
  int headers = 2;                  ///< members of the row's headers object; 0: NULL
};

[[nodiscard]] std::string relation_message(const RowShape& shape);

/// `count` Inserts, no two of which are the same: ids of their own, and six customers whose names
/// differ in length. Every other header has something that JSON has to escape.
[[nodiscard]] std::vector<std::string> insert_messages(const RowShape& shape, std::uint32_t count);

}  // namespace walpost::micro
