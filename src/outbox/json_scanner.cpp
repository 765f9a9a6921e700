#include "json_scanner.h"

#include <algorithm>

namespace walpost::outbox {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::ptrdiff_t unicode_escape_size = 6;  // \uXXXX

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What may stand in a string and needs no closer look.
bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

/// How many bytes follow the first one of a UTF-8 sequence, and within what the second one lies:
/// that excludes longer forms than needed, surrogates, and what is beyond U+10FFFF.
struct Sequence {
  int tail = 0;  ///< 0: no sequence starts so
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Sequence sequence_of(unsigned char first) {
  if (first < 0xC2) return {};
  if (first <= 0xDF) return {1};
  if (first == 0xE0) return {2, 0xA0, 0xBF};
  if (first == 0xED) return {2, 0x80, 0x9F};
  if (first <= 0xEF) return {2};
  if (first == 0xF0) return {3, 0x90, 0xBF};
  if (first <= 0xF3) return {3};
  if (first == 0xF4) return {3, 0x80, 0x8F};
  return {};
}

}  // namespace

std::uint32_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return 16;
}

std::uint32_t code_unit(const char* at) {
  return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 | hex_digit(at[3]);
}

bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}

JsonScanner::JsonScanner(std::string_view json)
    : begin_(json.data()), at_(begin_), end_(begin_ + json.size()) {
  if (json.starts_with(byte_order_mark)) at_ += byte_order_mark.size();
}

bool JsonScanner::fail(std::string_view what) {
  error_ = {static_cast<std::size_t>(at_ - begin_), what};
  return false;
}

bool JsonScanner::take(char c) {
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

void JsonScanner::skip_space() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonScanner::skip_string() {
  if (!take('"')) return fail("expected a string");
  escaped_ = false;
  while (at_ != end_) {
    at_ = std::find_if_not(at_, end_,
                           [](char each) { return is_plain(static_cast<unsigned char>(each)); });
    if (at_ == end_) break;
    const auto c = static_cast<unsigned char>(*at_);
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '\\') {
      escaped_ = true;
      if (!skip_escape()) return false;
    } else if (c < 0x20) {
      return fail("a control character in a string that is not escaped");
    } else if (!skip_multibyte(c)) {
      return false;
    }
  }
  return fail("a string that is not closed");
}

bool JsonScanner::skip_escape() {
  if (end_ - at_ >= 2 && std::string_view("\"\\/bfnrt").find(at_[1]) != std::string_view::npos) {
    at_ += 2;
    return true;
  }
  if (!unicode_escape_at(at_)) return fail("an unknown escape in a string");
  const std::uint32_t unit = code_unit(at_ + 2);
  if (is_low_surrogate(unit)) return fail("a low surrogate without a high one before it");
  if (is_high_surrogate(unit)) {
    const char* const next = at_ + unicode_escape_size;
    if (!unicode_escape_at(next) || !is_low_surrogate(code_unit(next + 2))) {
      return fail("a high surrogate without a low one after it");
    }
    at_ = next;
  }
  at_ += unicode_escape_size;
  return true;
}

bool JsonScanner::unicode_escape_at(const char* at) const {
  if (end_ - at < unicode_escape_size || at[0] != '\\' || at[1] != 'u') return false;
  for (int i = 2; i < unicode_escape_size; ++i) {
    if (hex_digit(at[i]) > 15) return false;
  }
  return true;
}

bool JsonScanner::skip_multibyte(unsigned char first) {
  Sequence sequence = sequence_of(first);
  if (sequence.tail == 0 || end_ - at_ <= sequence.tail) return fail("a string that is not UTF-8");
  for (int i = 1; i <= sequence.tail; ++i) {
    const auto c = static_cast<unsigned char>(at_[i]);
    if (c < sequence.low || c > sequence.high) return fail("a string that is not UTF-8");
    sequence.low = 0x80;
    sequence.high = 0xBF;
  }
  at_ += sequence.tail + 1;
  return true;
}

bool JsonScanner::skip_word(std::string_view word) {
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) {
    return fail("expected a value");
  }
  at_ += word.size();
  return true;
}

bool JsonScanner::skip_digits() {
  if (!is_digit(peek())) return fail("expected a digit");
  while (is_digit(peek())) ++at_;
  return true;
}

bool JsonScanner::skip_number() {
  const bool negative = take('-');
  if (!is_digit(peek())) return fail(negative ? "expected a digit" : "expected a value");
  if (!take('0') && !skip_digits()) return false;
  if (take('.') && !skip_digits()) return false;
  if (!take('e') && !take('E')) return true;
  if (!take('+')) take('-');
  return skip_digits();
}

bool JsonScanner::skip_value(int depth) {
  switch (peek()) {
    case '"':
      return skip_string();
    case '{':
      return skip_object(depth);
    case '[':
      return skip_array(depth);
    case 't':
      return skip_word("true");
    case 'f':
      return skip_word("false");
    case 'n':
      return skip_word("null");
    default:
      return skip_number();
  }
}

bool JsonScanner::enter(int depth) {
  if (depth >= deepest_headers) return fail("nested too deeply");
  ++at_;
  skip_space();
  return true;
}

bool JsonScanner::skip_array(int depth) {
  if (!enter(depth)) return false;
  if (take(']')) return true;
  do {
    skip_space();
    if (!skip_value(depth + 1)) return false;
    skip_space();
  } while (take(','));
  return take(']') || fail("expected a comma or the end of an array");
}

bool JsonScanner::skip_object(int depth) {
  if (!enter(depth)) return false;
  if (take('}')) return true;
  do {
    skip_space();
    if (!skip_string()) return false;
    skip_space();
    if (!take(':')) return fail("expected a colon");
    skip_space();
    if (!skip_value(depth + 1)) return false;
    skip_space();
  } while (take(','));
  return take('}') || fail("expected a comma or the end of an object");
}

}  // namespace walpost::outbox
