#include "quoting.h"

#include <optional>
#include <vector>

#include "walpost/relay/failure.h"

namespace walpost::postgres {

namespace {

std::string quote(std::string_view text, char mark, bool double_backslash) {
  std::string quoted(1, mark);
  for (const char c : text) {
    if (c == mark || (double_backslash && c == '\\')) quoted += c;
    quoted += c;
  }
  quoted += mark;
  return quoted;
}

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80u) != 0;
}

bool is_word(char c) {
  return is_word_start(c) || (c >= '0' && c <= '9') || c == '$';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Takes a quoted name off the front of `text`.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string name;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      if (at + 1 == text.size() || text[at + 1] != '"') {
        text.remove_prefix(at + 1);
        return name;
      }
      ++at;
    }
    name += text[at];
  }
  return std::nullopt;
}

std::string take_word(std::string_view& text) {
  std::string name;
  while (!text.empty() && (name.empty() ? is_word_start(text.front()) : is_word(text.front()))) {
    name += lower(text.front());
    text.remove_prefix(1);
  }
  return name;
}

std::optional<std::vector<std::string>> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    std::optional<std::string> name =
        !text.empty() && text.front() == '"' ? take_quoted(text) : take_word(text);
    if (!name || name->empty()) return std::nullopt;
    names.push_back(std::move(*name));
    if (text.empty()) return names;
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  return quote(name, '"', false);
}

std::string quote_literal(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  return (escapes ? "E" : "") + quote(text, '\'', escapes);
}

std::string quote_replication_literal(std::string_view text) {
  return quote(text, '\'', false);
}

std::string TableReference::sql() const {
  return schema.empty() ? quote_identifier(table)
                        : quote_identifier(schema) + "." + quote_identifier(table);
}

TableReference parse_table(std::string_view text) {
  auto names = split_names(text);
  if (!names || names->size() > 2) {
    throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::postgres,
                                "table " + std::string(text) + ": not a table's name",
                                "write table or schema.table; names with other characters than "
                                "letters, digits and _ in double quotes");
  }
  if (names->size() == 1) return {"", std::move(names->front())};
  return {std::move(names->front()), std::move(names->back())};
}

}  // namespace walpost::postgres
