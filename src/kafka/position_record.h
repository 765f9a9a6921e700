#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pgoutput/lsn.h"
#include "walpost/outbox/event.h"
#include "walpost/relay/stored_position.h"

namespace walpost::kafka {

/// The compacted topic of one partition in which positions are kept.
inline constexpr std::string_view positions_topic = "walpost.positions";

/// Names an event in the stream: later events compare greater.
struct EventPlace {
  pgoutput::Lsn commit;
  std::uint32_t ordinal = 0;
  friend constexpr auto operator<=>(const EventPlace&, const EventPlace&) = default;
};

/// How far a slot's stream has been published: the value of a record in positions_topic.
struct PositionRecord {
  pgoutput::Lsn confirmed;         ///< every event whose commit starts before it is in Kafka
  std::optional<EventPlace> last;  ///< of exactly once: the last event in Kafka
  std::string timeline;            ///< that both are of
  friend bool operator==(const PositionRecord&, const PositionRecord&) = default;
};

/// The key of a slot's position: `<system id>/<slot>`.
[[nodiscard]] std::string position_key(const std::string& system, const std::string& slot);

[[nodiscard]] std::string encode(const PositionRecord& position);
/// Nothing for bytes that this version can't understand.
[[nodiscard]] std::optional<PositionRecord> decode(std::string_view value);

/// Of two records of one key, the one that counts once `next` was read behind `former`: the later
/// one, unless it lies further back on the same timeline. That one is the last word of an instance
/// that had lost the slot and slept; without transactions nothing keeps it from being written.
[[nodiscard]] PositionRecord newest(const std::optional<PositionRecord>& former,
                                    const PositionRecord& next);

/// Whether an event is in Kafka already, as far as `position` tells. Sound only on one timeline.
[[nodiscard]] bool covers(const PositionRecord& position, const outbox::Position& event);

}  // namespace walpost::kafka
