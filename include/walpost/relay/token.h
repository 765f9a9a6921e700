#pragma once

#include <compare>
#include <cstdint>

namespace walpost::relay {

/// Names one record in flight: which transaction, which record of it, which table. Fits the 64-bit
/// opaque that librdkafka hands back with a delivery report, so tracking needs no memory per
/// record.
class Token {
 public:
  /// Transactions are numbered modulo this; the tracker refuses to have half as many at once.
  static constexpr std::uint32_t transaction_modulus = 1u << 24;

  constexpr Token() = default;
  constexpr Token(std::uint32_t transaction, std::uint32_t ordinal, std::uint8_t table)
      : packed_((std::uint64_t{transaction % transaction_modulus} << 40) |
                (std::uint64_t{table} << 32) | ordinal) {}
  static constexpr Token unpack(std::uint64_t packed) {
    Token token;
    token.packed_ = packed;
    return token;
  }

  [[nodiscard]] constexpr std::uint64_t packed() const { return packed_; }
  [[nodiscard]] constexpr std::uint32_t transaction() const {
    return static_cast<std::uint32_t>(packed_ >> 40);
  }
  [[nodiscard]] constexpr std::uint8_t table() const {
    return static_cast<std::uint8_t>(packed_ >> 32);
  }
  [[nodiscard]] constexpr std::uint32_t ordinal() const {
    return static_cast<std::uint32_t>(packed_);
  }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's zero for a pointer
  friend constexpr auto operator<=>(Token, Token) = default;

 private:
  std::uint64_t packed_ = 0;
};

}  // namespace walpost::relay
