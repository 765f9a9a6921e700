#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pgoutput/lsn.h"
#include "walpost/relay/clock.h"

namespace walpost::postgres {

/// pg_replication_slots.wal_status: what the server promises about the WAL that the slot needs.
enum class WalStatus { reserved, extended, unreserved, lost };
[[nodiscard]] std::string_view name(WalStatus status);

/// How a slot was when last asked.
struct SlotHealth {
  relay::Instant at;
  std::optional<WalStatus> wal_status;
  pgoutput::Lsn confirmed;                  ///< confirmed_flush_lsn
  std::int64_t retained_bytes = 0;          ///< WAL that the server keeps for the slot
  std::optional<std::int64_t> safe_bytes;   ///< WAL to be written until it may be lost; may be < 0
  std::optional<std::int64_t> limit_bytes;  ///< max_slot_wal_keep_size; nothing: no limit
};

}  // namespace walpost::postgres
