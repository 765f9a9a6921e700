#include "slot_health.h"

#include <spdlog/fmt/fmt.h>

#include "quoting.h"

namespace walpost::postgres {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
// Retained WAL that is worth a word while it grows, where the server has no limit of its own.
constexpr std::int64_t retained_worth_a_warning = 1024 * mebibyte;
// Below a tenth of what the server is allowed to keep there is little time left.
constexpr std::int64_t safe_fraction = 10;

std::optional<WalStatus> wal_status(std::string_view text) {
  if (text == "reserved") return WalStatus::reserved;
  if (text == "extended") return WalStatus::extended;
  if (text == "unreserved") return WalStatus::unreserved;
  if (text == "lost") return WalStatus::lost;
  return std::nullopt;
}

}  // namespace

std::string_view name(WalStatus status) {
  switch (status) {
    case WalStatus::reserved:
      return "reserved";
    case WalStatus::extended:
      return "extended";
    case WalStatus::unreserved:
      return "unreserved";
    case WalStatus::lost:
      return "lost";
  }
  return "unknown";
}

std::string slot_health_query(const std::string& slot) {
  return "SELECT s.wal_status, s.safe_wal_size, s.confirmed_flush_lsn,"
         " (CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()"
         "       ELSE pg_catalog.pg_current_wal_lsn() END - s.restart_lsn)::bigint AS retained,"
         " (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_slot_wal_keep_size')"
         "   AS slot_keep"
         " FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = " +
         quote_literal(slot);
}

SlotHealth read_slot_health(const Rows& rows, relay::Instant at) {
  SlotHealth health;
  health.at = at;
  health.wal_status = wal_status(rows.string(0, "wal_status"));
  health.safe_bytes = rows.number(0, "safe_wal_size");
  health.retained_bytes = rows.number(0, "retained").value_or(0);
  health.confirmed = rows.lsn(0, "confirmed_flush_lsn");
  const std::int64_t keep = rows.number(0, "slot_keep").value_or(-1);
  if (keep >= 0) health.limit_bytes = keep * mebibyte;
  return health;
}

std::optional<std::string> slot_health_warning(const std::string& slot, const SlotHealth& now,
                                               const std::optional<SlotHealth>& before) {
  if (now.wal_status == WalStatus::lost) {
    return fmt::format("slot {}: lost, the server has removed WAL that it needs", slot);
  }
  if (now.wal_status == WalStatus::unreserved) {
    return fmt::format(
        "slot {}: its WAL is no longer reserved, the next checkpoint may lose it; "
        "raise max_slot_wal_keep_size",
        slot);
  }
  if (now.limit_bytes && now.safe_bytes && *now.safe_bytes < *now.limit_bytes / safe_fraction) {
    return fmt::format(
        "slot {}: {} MB of WAL until it is lost, of {} MB; raise "
        "max_slot_wal_keep_size or end what holds it back",
        slot, *now.safe_bytes / mebibyte, *now.limit_bytes / mebibyte);
  }
  const bool growing = before && now.retained_bytes > before->retained_bytes;
  if (growing && now.retained_bytes > retained_worth_a_warning) {
    return fmt::format("slot {}: keeps {} MB of WAL on the server, and more every moment", slot,
                       now.retained_bytes / mebibyte);
  }
  return std::nullopt;
}

}  // namespace walpost::postgres
