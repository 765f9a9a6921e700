#include "template.h"

#include "walpost/outbox/nearest_name.h"

namespace walpost::outbox {

namespace {

[[noreturn]] void refuse(const Template& parsed, std::size_t offset, const std::string& what) {
  throw TemplateError(parsed.setting + ": " + what + " at character " + std::to_string(offset + 1));
}

void add_literal(Template& parsed, std::string_view text) {
  if (parsed.parts.empty() || parsed.parts.back().kind != Template::Part::Kind::literal) {
    parsed.parts.push_back({Template::Part::Kind::literal, {}});
  }
  parsed.parts.back().text += text;
}

/// Reads "{name}" at `offset` and returns the offset behind it.
std::size_t add_name(Template& parsed, std::string_view text, std::size_t offset) {
  const std::size_t end = text.find_first_of("{}", offset + 1);
  if (end == std::string_view::npos || text[end] == '{') {
    refuse(parsed, offset, "\"{\" is not closed; a literal brace is written \"{{\"");
  }
  const std::string_view name = text.substr(offset + 1, end - offset - 1);
  if (name.empty()) refuse(parsed, offset, "\"{}\" names nothing");
  parsed.parts.push_back({Template::Part::Kind::name, std::string(name)});
  return end + 1;
}

/// A name as a column's position, or the text that stands for it in every row.
struct Resolved {
  std::optional<std::size_t> column;
  std::string text;
};

Resolved resolve(const Template& parsed, const std::string& name, const TableMapping& table) {
  const std::optional<Field> field = field_named(name);
  if (field && table.position(*field)) return {table.position(*field), {}};
  if (name == "table") return {std::nullopt, table.shape().name.table};
  if (name == "schema") return {std::nullopt, table.shape().name.schema};
  if (const auto column = table.column(name)) return {column, {}};

  std::vector<std::string> names{"table", "schema"};
  std::string found;
  for (const TableShape::Column& column : table.shape().columns) {
    names.push_back(column.name);
    found += (found.empty() ? "" : ", ") + column.name;
  }
  const std::optional<std::string> nearest = nearest_name(name, names);
  const std::string other = nearest ? " (did you mean {" + *nearest + "}?)" : "";
  throw TemplateError(
      parsed.setting + " uses {" + name + "}" + other + ", but table " + table.qualified_name() +
      " has no such column; its published columns are: " + found + ". Change " + parsed.setting +
      (field ? ", or set outbox.columns." + name + " to one of them" : ""));
}

}  // namespace

Template parse_template(std::string setting, std::string_view text) {
  Template parsed{std::move(setting), {}};
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t brace = std::min(text.find_first_of("{}", offset), text.size());
    if (brace > offset) add_literal(parsed, text.substr(offset, brace - offset));
    offset = brace;
    if (offset == text.size()) break;
    const bool doubled = text.substr(offset + 1).starts_with(text[offset]);
    if (doubled) {
      add_literal(parsed, text.substr(offset, 1));
      offset += 2;
    } else if (text[offset] == '}') {
      refuse(parsed, offset, "\"}\" closes nothing; a literal brace is written \"}}\"");
    } else {
      offset = add_name(parsed, text, offset);
    }
  }
  return parsed;
}

std::optional<std::string> literal_text(const Template& parsed) {
  std::string text;
  for (const Template::Part& part : parsed.parts) {
    if (part.kind != Template::Part::Kind::literal) return std::nullopt;
    text += part.text;
  }
  return text;
}

BoundTemplate bind(const Template& parsed, const TableMapping& table) {
  BoundTemplate bound;
  bound.parts.emplace_back();
  for (const Template::Part& part : parsed.parts) {
    if (part.kind == Template::Part::Kind::literal) {
      bound.parts.back().literal += part.text;
      continue;
    }
    const Resolved resolved = resolve(parsed, part.text, table);
    bound.parts.back().literal += resolved.text;
    if (!resolved.column) continue;
    bound.parts.back().column = resolved.column;
    bound.parts.emplace_back();
  }
  if (bound.parts.back().literal.empty()) bound.parts.pop_back();
  return bound;
}

Rendered render(const BoundTemplate& bound,
                std::span<const std::optional<std::string_view>> columns, std::string& scratch) {
  if (bound.parts.size() == 1 && bound.parts[0].literal.empty()) {
    const std::size_t column = *bound.parts[0].column;
    return {columns[column], column};
  }
  scratch.clear();
  for (const BoundTemplate::Part& part : bound.parts) {
    scratch += part.literal;
    if (!part.column) continue;
    const std::optional<std::string_view>& value = columns[*part.column];
    if (!value) return {std::nullopt, *part.column};
    scratch += *value;
  }
  return {scratch, 0};
}

}  // namespace walpost::outbox
