#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace walpost::outbox {

/// Which of `known` somebody who wrote `wanted` most likely meant, by edit distance; nothing where
/// none is near. The first of several equally near ones.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view wanted,
                                                      std::span<const std::string> known);

}  // namespace walpost::outbox
