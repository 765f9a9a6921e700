#include "pgoutput/lsn.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace pgoutput {

namespace {

constexpr std::size_t max_digits = 8;

std::optional<std::uint32_t> parse_half(std::string_view digits) {
  if (digits.empty() || digits.size() > max_digits) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Lsn> Lsn::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = parse_half(text.substr(0, slash));
  const auto low = parse_half(text.substr(slash + 1));
  if (!high || !low) return std::nullopt;
  return Lsn{(std::uint64_t{*high} << 32) | *low};
}

std::string Lsn::to_string() const {
  std::array<char, 2 * max_digits + sizeof "/"> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "%X/%X", static_cast<unsigned>(value >> 32),
                    static_cast<unsigned>(value & 0xFFFFFFFFU));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace pgoutput
