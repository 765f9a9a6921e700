#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pgoutput {

/// A position in PostgreSQL's write-ahead log: a byte offset, written as two hexadecimal halves
/// ("16/B374D848"). Zero is "no position". A value; safe to copy between threads.
/// Source: PostgreSQL documentation, chapter "pg_lsn Type".
struct Lsn {
  std::uint64_t value = 0;

  // clang-tidy 14 takes its rewritten form for a null pointer:
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(Lsn, Lsn) = default;
  [[nodiscard]] constexpr bool valid() const { return value != 0; }

  /// Reads "X/X", each half one to eight hexadecimal digits of either case and nothing else.
  [[nodiscard]] static std::optional<Lsn> parse(std::string_view text);

  /// Writes "X/X" in upper case without leading zeros, as the server does.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace pgoutput
