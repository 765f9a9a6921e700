#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pgoutput/decode.h"

namespace pgoutput {

/// The one way bytes from the wire are read: big-endian integers, strings and slices, each checked
/// against what remains. The first failure sticks: it is kept with its offset, nothing remains
/// after it, and every later read gives zero or an empty view. So a reader may run to its end and
/// ask once. Views point into the bytes given and live as long as they do. One thread.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool failed() const { return !error_.what.empty(); }

  std::uint8_t u8() { return integer<std::uint8_t>(); }
  std::uint16_t u16() { return integer<std::uint16_t>(); }
  std::uint32_t u32() { return integer<std::uint32_t>(); }
  std::uint64_t u64() { return integer<std::uint64_t>(); }
  std::int32_t i32() { return std::bit_cast<std::int32_t>(u32()); }
  std::int64_t i64() { return std::bit_cast<std::int64_t>(u64()); }

  /// The next `size` bytes. A negative wire length, read as unsigned, is 2^31 or more and fails
  /// here too, as no message is that long.
  std::string_view slice(std::size_t size) {
    if (size > remaining()) {
      fail(offset(), "the length is beyond the end");
      return {};
    }
    const std::string_view bytes(at_, size);
    at_ += size;
    return bytes;
  }

  /// The bytes up to a NUL, which is consumed and not part of the result.
  std::string_view c_string() {
    const std::string_view rest(at_, remaining());
    const std::size_t size = rest.find('\0');
    if (size == std::string_view::npos) {
      fail(offset(), "a string without its terminator");
      return {};
    }
    at_ += size + 1;
    return rest.substr(0, size);
  }

  std::string_view rest() { return slice(remaining()); }

  /// Records a failure unless one is recorded already. `what` must be a string literal.
  void fail(std::size_t at, std::string_view what) {
    if (failed()) return;
    error_ = {at, what};
    at_ = end_;
  }

  /// Call when everything expected was read: why the bytes were no such message, or nothing if
  /// they were exactly one.
  [[nodiscard]] std::optional<DecodeError> finish() {
    if (remaining() != 0) fail(offset(), "bytes left over");
    if (!failed()) return std::nullopt;
    return error_;
  }

 private:
  template <typename Unsigned>
  Unsigned integer() {
    if (remaining() < sizeof(Unsigned)) {
      fail(offset(), "the message ends early");
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
      value = (value << 8) | static_cast<std::uint8_t>(at_[i]);
    }
    at_ += sizeof(Unsigned);
    return static_cast<Unsigned>(value);
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  DecodeError error_;
};

}  // namespace pgoutput
