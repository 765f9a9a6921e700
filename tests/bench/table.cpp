#include "bench/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace walpost::bench {
namespace {

/// Characters, not bytes: "µ" is one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

Table::Table(std::vector<std::string> header) : rows_{std::move(header)} {}

void Table::add(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.at(i)));
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i == 0)
        text += row[i] + padding;
      else
        text += "  " + padding + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string grouped(double value) {
  const std::string digits = std::to_string(std::llround(std::abs(value)));
  std::string text = value < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace walpost::bench
