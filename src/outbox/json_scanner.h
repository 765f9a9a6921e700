#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headers_object.h"

namespace walpost::outbox {

/// The value of a hexadecimal digit, or 16 for any other character.
[[nodiscard]] std::uint32_t hex_digit(char c);
/// The value of four hexadecimal digits that have been checked.
[[nodiscard]] std::uint32_t code_unit(const char* at);
[[nodiscard]] bool is_high_surrogate(std::uint32_t unit);

/// Walks over JSON text (RFC 8259, strictly; UTF-8, a leading byte order mark is passed over).
/// Every skip_ function passes exactly one construct and returns true, or remembers the error and
/// returns false. The text must outlive it.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view json);

  [[nodiscard]] const HeadersError& error() const { return error_; }
  [[nodiscard]] const char* at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  /// The next character, or NUL (which starts nothing) at the end.
  [[nodiscard]] char peek() const { return at_ == end_ ? '\0' : *at_; }
  /// Whether the string passed last holds an escape.
  [[nodiscard]] bool escaped() const { return escaped_; }

  /// Remembers an error at the present place. Always false.
  bool fail(std::string_view what);
  /// Passes `c` if it is next.
  bool take(char c);
  void skip_space();
  bool skip_string();
  /// `depth`: how many arrays and objects are around the value.
  bool skip_value(int depth);

 private:
  bool skip_escape();
  [[nodiscard]] bool unicode_escape_at(const char* at) const;
  bool skip_multibyte(unsigned char first);
  bool skip_word(std::string_view word);
  bool skip_digits();
  bool skip_number();
  bool enter(int depth);
  bool skip_array(int depth);
  bool skip_object(int depth);

  const char* begin_;
  const char* at_;
  const char* end_;
  bool escaped_ = false;
  HeadersError error_;
};

}  // namespace walpost::outbox
