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
  // By pointers, and judged at the end: a hundred times as many bytes as rows go through here.
  const char* in = text.data();
  std::uint8_t digits = 0;
  for (char& byte : bytes) {
    const std::uint8_t high = digit_values[static_cast<unsigned char>(*in++)];
    const std::uint8_t low = digit_values[static_cast<unsigned char>(*in++)];
    digits |= high | low;
    byte = static_cast<char>(high << 4 | (low & 0xF));
  }
  return digits <= 0xF;
}

}  // namespace walpost::outbox
