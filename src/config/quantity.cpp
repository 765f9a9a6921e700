#include "quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <string>

namespace walpost::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array duration_units{
    Unit{"ms", 1},
    Unit{"s", 1000},
    Unit{"m", 60000},
    Unit{"h", 3600000},
};

constexpr std::array size_units{
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"kb", 1000},
    Unit{"mb", 1000000},
    Unit{"gb", 1000000000},
    Unit{"kib", std::uint64_t{1} << 10},
    Unit{"mib", std::uint64_t{1} << 20},
    Unit{"gib", std::uint64_t{1} << 30},
};

std::optional<std::uint64_t> scaled(std::uint64_t number, std::string_view unit,
                                    std::span<const Unit> units, std::uint64_t limit) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit; });
  if (found == units.end() || number > limit / found->factor) {
    return std::nullopt;
  }
  return number * found->factor;
}

std::optional<std::uint64_t> parse(std::string_view text, std::span<const Unit> units,
                                   std::uint64_t limit) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.size() > 1 && unit.front() == ' ') {
    unit.remove_prefix(1);
  }
  return scaled(number, unit, units, limit);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
  constexpr std::array no_unit{Unit{"", 1}};
  return parse(text, no_unit, std::numeric_limits<std::uint64_t>::max());
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr auto longest = static_cast<std::uint64_t>(std::chrono::milliseconds::max().count());
  const auto parsed = parse(text, duration_units, longest);
  if (!parsed) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(*parsed));
}

std::optional<std::size_t> parse_size(std::string_view text) {
  return parse(lower_case(text), size_units, std::numeric_limits<std::size_t>::max());
}

}  // namespace walpost::config
