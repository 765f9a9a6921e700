#include <algorithm>
#include <atomic>

#include "column_type.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/nearest_name.h"

namespace walpost::outbox {

namespace {

using FieldNames = std::array<std::string_view, field_count>;
using Positions = std::array<std::optional<std::size_t>, field_count>;

constexpr FieldNames field_names{"id",      "aggregate_type", "aggregate_id", "event_type",
                                 "payload", "headers",        "created_at"};

constexpr std::array required_fields{Field::id, Field::aggregate_id, Field::payload};

/// The column of each field, in the order of Field.
constexpr std::array<FieldNames, 3> column_sets{{
    field_names,
    {"id", "aggregatetype", "aggregateid", "type", "payload", "headers", "created_at"},
    {"id", "aggregate_type", "aggregate_id", "effect_type", "payload", "headers", "created_at"},
}};

constexpr std::size_t slot(Field field) {
  return static_cast<std::size_t>(field);
}

std::string setting(Field field) {
  return "outbox.columns." + std::string(field_name(field));
}

/// As an identifier in SQL.
std::string quoted(std::string_view name) {
  std::string sql = "\"";
  for (const char c : name) {
    if (c == '"') sql += '"';
    sql += c;
  }
  return sql + '"';
}

std::vector<std::string> column_names(const TableShape& shape) {
  std::vector<std::string> names;
  for (const TableShape::Column& column : shape.columns) names.push_back(column.name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(name, candidates);
  return nearest ? " (did you mean " + *nearest + "?)" : "";
}

std::optional<std::size_t> find_column(const TableShape& shape, std::string_view name) {
  for (std::size_t i = 0; i < shape.columns.size(); ++i) {
    if (shape.columns[i].name == name) return i;
  }
  return std::nullopt;
}

void check_field_names(const TableShape& shape, const MappingOptions& options) {
  const std::vector<std::string> known(field_names.begin(), field_names.end());
  for (const auto& [name, column] : options.columns) {
    if (field_named(name)) continue;
    throw UnmappableTable(
        shape.name.qualified(),
        "outbox.columns names " + name + ", which is not a field" + suggestion(name, known),
        "use only these fields in outbox.columns: " + listed(known));
  }
}

/// Where the override puts `field`; the outer optional is empty when there is none.
std::optional<std::optional<std::size_t>> overridden(const TableShape& shape,
                                                     const MappingOptions& options, Field field) {
  const auto found = options.columns.find(std::string(field_name(field)));
  if (found == options.columns.end()) return std::nullopt;
  const std::string& column = found->second;
  if (column.empty()) return std::optional<std::size_t>{};
  const std::optional<std::size_t> position = find_column(shape, column);
  if (position) return position;
  const std::vector<std::string> names = column_names(shape);
  const std::string table = shape.name.qualified();
  throw UnmappableTable(table,
                        "table " + table + " has no column " + column + ", which " +
                            setting(field) + " names" + suggestion(column, names) +
                            ". Its published columns are: " + listed(names),
                        "set " + setting(field) + " to one of its columns");
}

Positions positions_in(const TableShape& shape, const MappingOptions& options,
                       const FieldNames& names) {
  Positions positions;
  for (std::size_t i = 0; i < field_count; ++i) {
    const auto chosen = overridden(shape, options, static_cast<Field>(i));
    positions[i] = chosen ? *chosen : find_column(shape, names[i]);
  }
  return positions;
}

/// How well a column set fits: a set with every required field beats one without, then the more
/// fields the better.
std::size_t fit(const Positions& positions) {
  const bool complete = std::all_of(required_fields.begin(), required_fields.end(),
                                    [&](Field field) { return positions[slot(field)]; });
  const auto present = std::count_if(positions.begin(), positions.end(),
                                     [](const auto& position) { return position.has_value(); });
  return static_cast<std::size_t>(present) + (complete ? field_count : 0);
}

Positions best_positions(const TableShape& shape, const MappingOptions& options) {
  Positions best = positions_in(shape, options, column_sets.front());
  for (const FieldNames& names : column_sets) {
    const Positions positions = positions_in(shape, options, names);
    if (fit(positions) > fit(best)) best = positions;
  }
  return best;
}

void check_required(const TableShape& shape, const Positions& positions) {
  std::string missing;
  std::string mend;
  for (const Field field : required_fields) {
    if (positions[slot(field)]) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(field_name(field));
    mend += (mend.empty() ? "set " : " and ") + setting(field);
  }
  if (missing.empty()) return;
  const std::string table = shape.name.qualified();
  throw UnmappableTable(
      table,
      "table " + table + " is not recognised as an outbox: nothing in it is known as " + missing +
          ". Its published columns are: " + listed(column_names(shape)),
      mend +
          " to the names of its columns, or take the table out of the publication: alter "
          "publication ... drop table " +
          quoted(shape.name.schema) + "." + quoted(shape.name.table));
}

void check_headers_type(const TableShape& shape, const TableShape::Column& column) {
  namespace type = column_type;
  for (const pgoutput::Oid allowed :
       {type::json, type::jsonb, type::text, type::varchar, type::bpchar}) {
    if (column.type == allowed) return;
  }
  const std::string table = shape.name.qualified();
  throw UnmappableTable(table,
                        "column " + column.name + " of table " + table + ", used as headers, is " +
                            type::describe(column.type) +
                            ", but headers are read from json, jsonb, text or varchar",
                        "set " + setting(Field::headers) +
                            " to a column of such a type, or to \"\" to publish without it");
}

void check_created_at_type(const TableShape& shape, const TableShape::Column& column) {
  namespace type = column_type;
  if (column.type == type::timestamp || column.type == type::timestamptz) return;
  const std::string table = shape.name.qualified();
  throw UnmappableTable(table,
                        "column " + column.name + " of table " + table +
                            ", used as created_at, is " + type::describe(column.type) +
                            ", but a time is read from timestamptz or timestamp",
                        "set " + setting(Field::created_at) +
                            " to a column of such a type, or to \"\" to publish without "
                            "occurredAt; or alter table " +
                            quoted(shape.name.schema) + "." + quoted(shape.name.table) +
                            " alter column " + quoted(column.name) + " type timestamptz using ...");
}

std::vector<Rendering> renderings_of(const TableShape& shape, std::size_t payload) {
  std::vector<Rendering> renderings;
  for (const TableShape::Column& column : shape.columns) {
    const bool padded = column.type == column_type::bpchar;
    renderings.push_back(padded ? Rendering::padded : Rendering::as_sent);
  }
  // A payload is published untouched, blanks and all; only bytea has another form on the wire.
  const bool hex = shape.columns[payload].type == column_type::bytea;
  renderings[payload] = hex ? Rendering::hex : Rendering::as_sent;
  return renderings;
}

std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> latest{0};
  return ++latest;
}

}  // namespace

std::string_view field_name(Field field) {
  return field_names[slot(field)];
}

std::optional<Field> field_named(std::string_view name) {
  for (std::size_t i = 0; i < field_count; ++i) {
    if (field_names[i] == name) return static_cast<Field>(i);
  }
  return std::nullopt;
}

TableMapping::TableMapping(TableShape shape, const MappingOptions& options, std::uint8_t index)
    : shape_(std::move(shape)),
      qualified_name_(shape_.name.qualified()),
      index_(index),
      generation_(next_generation()) {
  check_field_names(shape_, options);
  positions_ = best_positions(shape_, options);
  check_required(shape_, positions_);
  if (const auto headers = position(Field::headers)) {
    check_headers_type(shape_, shape_.columns[*headers]);
  }
  if (const auto created_at = position(Field::created_at)) {
    check_created_at_type(shape_, shape_.columns[*created_at]);
  }
  renderings_ = renderings_of(shape_, *position(Field::payload));
}

std::optional<std::size_t> TableMapping::column(std::string_view name) const {
  return find_column(shape_, name);
}

}  // namespace walpost::outbox
