#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace walpost::outbox {

/// The candidate that `name` is most likely a misspelling of, or nothing when none is close.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

}  // namespace walpost::outbox
