#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "pgoutput/messages.h"

namespace walpost::outbox {

/// Where an event stands in the stream: identical on every re-delivery of the same transaction.
struct Position {
  pgoutput::Lsn commit_lsn;   ///< Begin.final_lsn of its transaction
  std::uint32_t ordinal = 0;  ///< 0-based among the transaction's published events
  pgoutput::Timestamp committed_at;
};

/// Names a table as the publication sends it.
struct TableName {
  std::string schema;
  std::string table;
  [[nodiscard]] std::string qualified() const { return schema + "." + table; }
};

class TableMapping;

/// One outbox row, not yet routed. Views point into the bytes of the Insert or into the mapper's
/// scratch space, and are valid until the mapper's next call.
struct Event {
  const TableMapping* table = nullptr;
  Position position;
  std::string_view id;
  std::string_view aggregate_type;  ///< empty where the column set has none
  std::string_view aggregate_id;
  std::string_view event_type;  ///< empty where the column set has none
  std::optional<std::string_view> payload;
  std::string_view headers;                    ///< JSON text; empty for none or SQL NULL
  std::optional<std::string_view> created_at;  ///< PostgreSQL's ISO text
  std::span<const std::optional<std::string_view>> columns;  ///< the whole row, by column position
};

/// An event that can't ever be published as it is. No payload, key or header value is in here.
struct Poison {
  enum class Reason {
    no_key,
    no_payload,
    no_identifier,
    malformed_headers,
    malformed_time,
    malformed_payload,
    no_topic,
    too_large,
    rejected_by_broker,
  };
  Reason reason;
  std::string what;  ///< one sentence naming the column or limit
  std::string event_id;
  std::string table;  ///< schema.table
};

}  // namespace walpost::outbox
