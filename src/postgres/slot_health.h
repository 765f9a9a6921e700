#pragma once

#include <optional>
#include <string>

#include "query.h"
#include "walpost/postgres/slot_health.h"

namespace walpost::postgres {

/// The statement that asks for a slot's health, for any session; one row, or none without the slot.
[[nodiscard]] std::string slot_health_query(const std::string& slot);
[[nodiscard]] SlotHealth read_slot_health(const Rows& rows, relay::Instant at);

/// What an operator should be told of it, if anything. `before` is the probe before.
[[nodiscard]] std::optional<std::string> slot_health_warning(
    const std::string& slot, const SlotHealth& now, const std::optional<SlotHealth>& before);

}  // namespace walpost::postgres
