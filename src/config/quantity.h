#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace walpost::config {

/// A whole number of decimal digits and nothing else; nothing where it doesn't fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

/// A number with a unit of ms, s, m or h: "500ms", "10s". Up to about 292 million years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Bytes: a plain number, or one with a unit of B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB
/// (powers of 1024), of either case.
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

}  // namespace walpost::config
