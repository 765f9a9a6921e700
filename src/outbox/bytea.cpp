#include "bytea.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace walpost::outbox {

namespace {

constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::uint8_t i = 0; i < 10; ++i) values[std::size_t{'0'} + i] = i;
  for (std::uint8_t i = 0; i < 6; ++i) {
    values[std::size_t{'a'} + i] = static_cast<std::uint8_t>(10 + i);
    values[std::size_t{'A'} + i] = static_cast<std::uint8_t>(10 + i);
  }
  return values;
}();

}  // namespace

bool decode_bytea(std::string_view text, std::string& bytes) {
  if (!text.starts_with("\\x") || text.size() % 2 != 0) return false;
  text.remove_prefix(2);
  bytes.resize(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t high = digit_values[static_cast<unsigned char>(text[2 * i])];
    const std::uint8_t low = digit_values[static_cast<unsigned char>(text[2 * i + 1])];
    if (high == no_digit || low == no_digit) return false;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  return true;
}

}  // namespace walpost::outbox
