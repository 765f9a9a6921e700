#include "letter_listing.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace walpost::cli {
namespace {

using nlohmann::json;
using postgres::KeptLetter;

std::string hex(const std::string& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4u];
    text += digits[byte & 0xFu];
  }
  return text;
}

bool is_utf8(const std::string& bytes) {
  try {
    static_cast<void>(json(bytes).dump());
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

json or_null(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}

std::string position(const KeptLetter& letter) {
  return letter.commit_lsn.to_string() + "/" + std::to_string(letter.ordinal);
}

}  // namespace

std::string letters_table(const std::vector<KeptLetter>& letters) {
  if (letters.empty()) return "no dead letters\n";
  using Line = std::array<std::string, 7>;
  std::vector<Line> lines{{"id", "state", "since", "table", "topic", "key", "reason"}};
  for (const KeptLetter& letter : letters) {
    lines.push_back({std::to_string(letter.id), letter.state, letter.first_failure.substr(0, 19),
                     letter.table, letter.topic.value_or("-"), letter.key.value_or("-"),
                     letter.reason});
  }
  Line::size_type widths[7] = {};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      text += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
    }
    text += line.back() + "\n";
  }
  return text;
}

std::string letter_text(const KeptLetter& letter) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += name + ": " + value + "\n";
  };
  add("id", std::to_string(letter.id));
  add("state", letter.state);
  add("reason", letter.reason);
  add("attempts", std::to_string(letter.attempts));
  add("first failure", letter.first_failure);
  add("last failure", letter.last_failure);
  add("event", letter.event_id.value_or("(without id)"));
  add("table", letter.table);
  add("position", position(letter));
  add("topic", letter.topic.value_or("(none)"));
  add("key", letter.key.value_or("(none)"));
  for (const auto& [name, value] : letter.headers) {
    add("header " + name, value.value_or("(null)"));
  }
  if (letter.row_headers) add("headers of the row", *letter.row_headers);
  if (!letter.value) {
    add("value", "(null)");
  } else if (is_utf8(*letter.value)) {
    add("value", *letter.value);
  } else {
    add("value in hex", hex(*letter.value));
  }
  return text;
}

std::string letter_json(const KeptLetter& letter, bool with_value) {
  json object{{"id", letter.id},
              {"state", letter.state},
              {"reason", letter.reason},
              {"attempts", letter.attempts},
              {"first_failure", letter.first_failure},
              {"last_failure", letter.last_failure},
              {"event_id", or_null(letter.event_id)},
              {"table", letter.table},
              {"position", position(letter)},
              {"topic", or_null(letter.topic)},
              {"key", or_null(letter.key)}};
  if (!with_value) return object.dump();
  json headers = json::array();
  for (const auto& [name, value] : letter.headers) headers.push_back({name, or_null(value)});
  object["headers"] = headers;
  object["row_headers"] = or_null(letter.row_headers);
  if (letter.value && !is_utf8(*letter.value)) {
    object["value_hex"] = hex(*letter.value);
  } else {
    object["value"] = or_null(letter.value);
  }
  return object.dump();
}

}  // namespace walpost::cli
