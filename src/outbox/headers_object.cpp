#include "headers_object.h"

#include <cstdint>

#include "json_scanner.h"

namespace walpost::outbox {

namespace {

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3F)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char unescaped(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:  // the quote, the backslash and the slash stand for themselves
      return letter;
  }
}

/// Appends what a checked string stands for. Never longer than the string itself.
void append_decoded(std::string& out, std::string_view string) {
  const char* at = string.data();
  const char* const end = at + string.size();
  while (at != end) {
    if (*at != '\\') {
      out.push_back(*at++);
    } else if (at[1] != 'u') {
      out.push_back(unescaped(at[1]));
      at += 2;
    } else {
      std::uint32_t code_point = code_unit(at + 2);
      at += 6;
      if (is_high_surrogate(code_point)) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + (code_unit(at + 2) - 0xDC00);
        at += 6;
      }
      append_utf8(out, code_point);
    }
  }
}

/// Reads members, decoding into `scratch`, which has room for all of them.
class MemberReader {
 public:
  MemberReader(std::string_view json, std::string& scratch, std::vector<Header>& headers)
      : scan_(json), scratch_(scratch), headers_(headers) {}

  [[nodiscard]] const HeadersError& error() const { return scan_.error(); }

  bool read() {
    scan_.skip_space();
    if (!scan_.take('{')) return scan_.fail("not a JSON object");
    scan_.skip_space();
    if (!scan_.take('}')) {
      do {
        scan_.skip_space();
        if (!read_member()) return false;
        scan_.skip_space();
      } while (scan_.take(','));
      if (!scan_.take('}')) return scan_.fail("expected a comma or the end of the object");
    }
    scan_.skip_space();
    return scan_.at_end() || scan_.fail("text after the object");
  }

 private:
  bool read_member() {
    std::string_view name;
    if (!read_string(name)) return false;
    scan_.skip_space();
    if (!scan_.take(':')) return scan_.fail("expected a colon");
    scan_.skip_space();
    std::optional<std::string_view> value;
    if (!read_value(value)) return false;
    headers_.push_back({name, value});
    return true;
  }

  bool read_value(std::optional<std::string_view>& value) {
    const char first = scan_.peek();
    if (first == '"') return read_string(value.emplace());
    const char* const from = scan_.at();
    if (!scan_.skip_value(1)) return false;
    if (first != 'n') value.emplace(from, static_cast<std::size_t>(scan_.at() - from));
    return true;
  }

  bool read_string(std::string_view& text) {
    const char* const from = scan_.at();
    if (!scan_.skip_string()) return false;
    const std::string_view inside(from + 1, static_cast<std::size_t>(scan_.at() - from) - 2);
    text = scan_.escaped() ? decoded(inside) : inside;
    return true;
  }

  std::string_view decoded(std::string_view string) {
    const std::size_t from = scratch_.size();
    append_decoded(scratch_, string);
    return std::string_view(scratch_).substr(from);
  }

  JsonScanner scan_;
  std::string& scratch_;
  std::vector<Header>& headers_;
};

}  // namespace

std::optional<HeadersError> read_headers(std::string_view json, std::string& scratch,
                                         std::vector<Header>& headers) {
  scratch.clear();
  // Decoding never lengthens a string, so the scratch space never moves under earlier members.
  if (scratch.capacity() < json.size()) scratch.reserve(json.size());
  MemberReader reader(json, scratch, headers);
  if (!reader.read()) return reader.error();
  return std::nullopt;
}

}  // namespace walpost::outbox
