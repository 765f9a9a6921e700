#include "rfc3339.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace walpost::outbox {

namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::year_month_day;

/// What PostgreSQL prints:
///   year "-" month "-" day " " hour ":" minute ":" second [ "." fraction ]
///   [ ("+" | "-") hours [ ":" minutes [ ":" seconds ] ] ] [ " BC" ]
/// with at least four digits for the year, one to six for the fraction, two for everything else.
struct Printed {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int second_of_day = 0;
  std::string_view fraction;
  int offset = 0;  ///< seconds east of UTC
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads from the front of the text; every function leaves it alone when it returns false or
/// nothing.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  bool take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  std::string_view digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    if (count < least || count > most) return {};
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::optional<int> number(std::size_t least, std::size_t most, int limit) {
    const std::string_view taken = digits(least, most);
    if (taken.empty()) return std::nullopt;
    int value = 0;
    for (const char c : taken) value = value * 10 + (c - '0');
    if (value > limit) return std::nullopt;
    return value;
  }

  std::optional<int> pair(int limit) { return number(2, 2, limit); }

 private:
  std::string_view rest_;
};

constexpr int longest_year = 6;  // PostgreSQL's timestamps end in the year 294276

bool read_date(TimeText& text, Printed& printed) {
  const auto year = text.number(4, longest_year, 999999);
  if (!year || !text.take("-")) return false;
  const auto month = text.pair(12);
  if (!month || !text.take("-")) return false;
  const auto day = text.pair(31);
  if (!day || !text.take(" ")) return false;
  printed.year = *year;
  printed.month = static_cast<unsigned>(*month);
  printed.day = static_cast<unsigned>(*day);
  return true;
}

bool read_time(TimeText& text, Printed& printed) {
  const auto hour = text.pair(23);
  if (!hour || !text.take(":")) return false;
  const auto minute = text.pair(59);
  if (!minute || !text.take(":")) return false;
  const auto second = text.pair(59);
  if (!second) return false;
  printed.second_of_day = (*hour * 60 + *minute) * 60 + *second;
  if (!text.take(".")) return true;
  printed.fraction = text.digits(1, 6);
  return !printed.fraction.empty();
}

bool read_offset(TimeText& text, Printed& printed) {
  const bool east = text.take("+");
  if (!east && !text.take("-")) return true;
  const auto hours = text.pair(23);
  if (!hours) return false;
  int offset = *hours * 3600;
  for (const int unit : {60, 1}) {
    if (!text.take(":")) break;
    const auto part = text.pair(59);
    if (!part) return false;
    offset += *part * unit;
  }
  printed.offset = east ? offset : -offset;
  return true;
}

std::optional<Printed> read(std::string_view postgres_text) {
  TimeText text(postgres_text);
  Printed printed;
  if (!read_date(text, printed) || !read_time(text, printed) || !read_offset(text, printed)) {
    return std::nullopt;
  }
  // There is no year zero: the year before 1 is 1 BC, which RFC 3339 numbers 0000.
  if (text.take(" BC")) printed.year = 1 - printed.year;
  if (!text.at_end()) return std::nullopt;
  return printed;
}

/// The same moment in UTC.
std::optional<Printed> in_utc(const Printed& printed) {
  // An offset is less than a day, so it can bring only these years into RFC 3339's range; the
  // calendar of <chrono> is narrower than PostgreSQL's.
  if (printed.year < -1 || printed.year > 10000) return std::nullopt;
  const year_month_day date{year{printed.year}, month{printed.month}, day{printed.day}};
  if (!date.ok()) return std::nullopt;
  if (printed.offset == 0) return printed;  // as in walpost's own sessions

  const sys_seconds time = sys_days{date} + seconds{printed.second_of_day - printed.offset};
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const year_month_day utc{days};
  return Printed{static_cast<int>(utc.year()),
                 static_cast<unsigned>(utc.month()),
                 static_cast<unsigned>(utc.day()),
                 static_cast<int>((time - days).count()),
                 printed.fraction,
                 0};
}

char* write(char* out, unsigned value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + digits;
}

}  // namespace

std::optional<std::string_view> to_rfc3339(std::string_view postgres_text, Rfc3339Buffer& buffer) {
  const std::optional<Printed> printed = read(postgres_text);
  if (!printed) return std::nullopt;
  const std::optional<Printed> utc = in_utc(*printed);
  if (!utc || utc->year < 0 || utc->year > 9999) return std::nullopt;

  const auto second_of_day = static_cast<unsigned>(utc->second_of_day);
  char* out = write(buffer.data(), static_cast<unsigned>(utc->year), 4);
  *out++ = '-';
  out = write(out, utc->month, 2);
  *out++ = '-';
  out = write(out, utc->day, 2);
  *out++ = 'T';
  out = write(out, second_of_day / 3600, 2);
  *out++ = ':';
  out = write(out, second_of_day / 60 % 60, 2);
  *out++ = ':';
  out = write(out, second_of_day % 60, 2);
  if (!utc->fraction.empty()) {
    *out++ = '.';
    out = std::copy(utc->fraction.begin(), utc->fraction.end(), out);
  }
  *out++ = 'Z';
  return std::string_view(buffer.data(), static_cast<std::size_t>(out - buffer.data()));
}

}  // namespace walpost::outbox
