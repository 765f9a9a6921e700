#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "pgoutput/decode.h"
#include "pgoutput/lsn.h"
#include "pgoutput/messages.h"

/// The frames inside CopyData while a replication stream runs.
/// Source: PostgreSQL documentation, "Streaming Replication Protocol", START_REPLICATION.
namespace pgoutput {

/// 'w': carries one pgoutput message. For logical streams both LSNs are the plugin's write
/// position, and 0/0 on Relation and Type messages; never confirm either.
struct XLogData {
  Lsn start;
  Lsn end;
  Timestamp sent_at;
  std::string_view payload;  ///< points into the frame
};

/// 'k': everything before wal_end has been decoded and sent on this connection.
struct Keepalive {
  Lsn wal_end;
  Timestamp sent_at;
  bool reply_requested = false;
};

using Frame = std::variant<XLogData, Keepalive>;

/// Reads one server CopyData payload. Total, stateless, thread-safe.
[[nodiscard]] std::variant<Frame, DecodeError> parse_frame(std::string_view copy_data);

/// 'r': the client's answer. Only `flushed` moves a logical slot, and moving it is irreversible.
struct StandbyStatus {
  Lsn written;
  Lsn flushed;
  Lsn applied;
  Timestamp at;
  bool reply_requested = false;  ///< asks the server for an immediate keepalive
};

inline constexpr std::size_t standby_status_size = 34;
[[nodiscard]] std::array<char, standby_status_size> encode(const StandbyStatus& status);

}  // namespace pgoutput
