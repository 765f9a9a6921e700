#include "walpost/outbox/mapper.h"

#include <algorithm>

#include "bytea.h"
#include "column_type.h"

namespace walpost::outbox {

namespace {

using Columns = std::vector<std::optional<std::string_view>>;

constexpr std::uint8_t index_of_further_tables = 255;

bool same_shape(const TableShape& a, const TableShape& b) {
  return a.name.schema == b.name.schema && a.name.table == b.name.table &&
         std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [](const TableShape::Column& left, const TableShape::Column& right) {
                      return left.name == right.name && left.type == right.type;
                    });
}

/// Says which columns in use `shape` has no longer; empty when none went.
std::string columns_gone(const TableMapping& before, const TableShape& shape) {
  std::string gone;
  for (std::size_t i = 0; i < field_count; ++i) {
    const Field field = static_cast<Field>(i);
    const auto position = before.position(field);
    if (!position) continue;
    const std::string& name = before.shape().columns[*position].name;
    const bool there = std::any_of(shape.columns.begin(), shape.columns.end(),
                                   [&](const auto& column) { return column.name == name; });
    if (there) continue;
    gone += (gone.empty() ? "" : ", ") + name + " (used as " + std::string(field_name(field)) + ")";
  }
  return gone;
}

std::string_view without_padding(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

[[noreturn]] void violated(const TableMapping& table, std::size_t column, std::string_view what) {
  throw ProtocolViolation("the server sent column " + table.shape().columns[column].name +
                          " of a row inserted into " + table.qualified_name() + " " +
                          std::string(what));
}

/// The text of one value, or nothing for NULL.
std::optional<std::string_view> text_of(const pgoutput::Value& value, const TableMapping& table,
                                        std::size_t column) {
  switch (value.kind) {
    case pgoutput::Value::Kind::null:
      return std::nullopt;
    case pgoutput::Value::Kind::text:
      return value.bytes;
    case pgoutput::Value::Kind::unchanged:
      violated(table, column, "as unchanged, which only an update can say");
    case pgoutput::Value::Kind::binary:
      violated(table, column, "in binary form, which was not asked for");
  }
  violated(table, column, "in an unknown form");
}

Poison poison(Poison::Reason reason, const TableMapping& table, Field field,
              std::optional<std::string_view> id, std::string_view mend) {
  const std::string& column = table.shape().columns[*table.position(field)].name;
  return {reason,
          "column " + column + ", the " + std::string(field_name(field)) + ", is NULL" +
              std::string(mend),
          std::string(id.value_or("")), table.qualified_name()};
}

}  // namespace

struct Mapper::State {
  MappingOptions options;
  std::unordered_map<pgoutput::Oid, TableMapping> tables;
  std::unordered_map<pgoutput::Oid, pgoutput::Oid> base_types;  ///< of the domains announced
  std::vector<std::string>
      names;            ///< by index; kept across connections, for reports that come late
  Columns columns;      ///< scratch: the latest row
  std::string payload;  ///< scratch: the latest row's decoded bytea

  [[nodiscard]] TableShape shape_of(const pgoutput::Relation& relation) const;
  std::uint8_t index_of(const std::string& qualified_name);
  [[nodiscard]] const TableMapping& table_of(pgoutput::Oid relation) const;
  void read_row(const pgoutput::Tuple& row, const TableMapping& table);
  [[nodiscard]] std::optional<std::string_view> value(const TableMapping& table, Field field) const;
  [[nodiscard]] Event event(const TableMapping& table, const Position& position) const;
};

TableShape Mapper::State::shape_of(const pgoutput::Relation& relation) const {
  TableShape shape;
  shape.name.schema = relation.schema.empty() ? "pg_catalog" : relation.schema;
  shape.name.table = relation.name;
  for (const pgoutput::Column& column : relation.columns) {
    const auto base = base_types.find(column.type);
    shape.columns.push_back(
        {std::string(column.name), base == base_types.end() ? column.type : base->second});
  }
  return shape;
}

std::uint8_t Mapper::State::index_of(const std::string& qualified_name) {
  const auto known = std::find(names.begin(), names.end(), qualified_name);
  if (known != names.end()) return static_cast<std::uint8_t>(known - names.begin());
  if (names.size() >= index_of_further_tables) return index_of_further_tables;
  names.push_back(qualified_name);
  return static_cast<std::uint8_t>(names.size() - 1);
}

const TableMapping& Mapper::State::table_of(pgoutput::Oid relation) const {
  const auto found = tables.find(relation);
  if (found != tables.end()) return found->second;
  throw ProtocolViolation("the server sent a row of the relation with oid " +
                          std::to_string(static_cast<std::uint32_t>(relation)) +
                          " without describing the relation first");
}

void Mapper::State::read_row(const pgoutput::Tuple& row, const TableMapping& table) {
  if (row.size() != table.shape().columns.size()) {
    throw ProtocolViolation("the server sent a row of " + std::to_string(row.size()) +
                            " columns for " + table.qualified_name() +
                            ", which it described with " +
                            std::to_string(table.shape().columns.size()));
  }
  columns.clear();
  for (const pgoutput::Value& sent : row) {
    const std::size_t column = columns.size();
    auto& text = columns.emplace_back(text_of(sent, table, column));
    if (!text) continue;
    switch (table.rendering(column)) {
      case Rendering::as_sent:
        break;
      case Rendering::padded:
        text = without_padding(*text);
        break;
      case Rendering::hex:
        if (!decode_bytea(*text, payload)) {
          violated(table, column, "as a bytea that is not in hex form (bytea_output must be hex)");
        }
        text = payload;
        break;
    }
  }
}

std::optional<std::string_view> Mapper::State::value(const TableMapping& table, Field field) const {
  const std::optional<std::size_t> position = table.position(field);
  return position ? columns[*position] : std::nullopt;
}

Event Mapper::State::event(const TableMapping& table, const Position& position) const {
  return {.table = &table,
          .position = position,
          .id = value(table, Field::id).value_or(""),
          .aggregate_type = value(table, Field::aggregate_type).value_or(""),
          .aggregate_id = value(table, Field::aggregate_id).value_or(""),
          .event_type = value(table, Field::event_type).value_or(""),
          .payload = value(table, Field::payload),
          .headers = value(table, Field::headers).value_or(""),
          .created_at = value(table, Field::created_at),
          .columns = columns};
}

Mapper::Mapper(MappingOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

Mapper::~Mapper() = default;

void Mapper::learn(const pgoutput::Type& type) {
  // For a domain the name is its base type's. A type of the user's own with a built-in's name is
  // told apart by its schema.
  const auto base = type.schema.empty() ? column_type::built_in(type.name) : std::nullopt;
  if (base) {
    state_->base_types.insert_or_assign(type.oid, *base);
  } else {
    state_->base_types.erase(type.oid);
  }
}

void Mapper::learn(const pgoutput::Relation& relation) {
  TableShape shape = state_->shape_of(relation);
  std::string gone;
  const auto before = state_->tables.find(relation.oid);
  if (before != state_->tables.end()) {
    if (same_shape(before->second.shape(), shape)) return;
    gone = columns_gone(before->second, shape);
    state_->tables.erase(before);
  }
  const std::uint8_t index = state_->index_of(shape.name.qualified());
  try {
    state_->tables.emplace(relation.oid, TableMapping(std::move(shape), state_->options, index));
  } catch (const UnmappableTable& unmappable) {
    if (gone.empty()) throw;
    throw UnmappableTable(
        unmappable.table(),
        std::string(unmappable.what()) + ". Columns renamed or dropped since: " + gone,
        unmappable.mend());
  }
}

std::variant<Event, Poison> Mapper::map(const pgoutput::Insert& insert, const Position& position) {
  State& state = *state_;
  const TableMapping& table = state.table_of(insert.relation);
  state.read_row(insert.row, table);

  const auto id = state.value(table, Field::id);
  const auto aggregate_id = state.value(table, Field::aggregate_id);
  const auto payload = state.value(table, Field::payload);
  if (!id) return poison(Poison::Reason::no_identifier, table, Field::id, id, "");
  if (!aggregate_id) return poison(Poison::Reason::no_key, table, Field::aggregate_id, id, "");
  if (!payload && !state.options.tombstones) {
    return poison(Poison::Reason::no_payload, table, Field::payload, id,
                  ", and outbox.tombstones is off");
  }
  return state.event(table, position);
}

Event Mapper::remains(const pgoutput::Insert& insert, const Position& position) {
  const TableMapping& table = state_->table_of(insert.relation);
  state_->read_row(insert.row, table);
  return state_->event(table, position);
}

std::string Mapper::table_name(std::uint8_t index) const {
  if (index < state_->names.size()) return state_->names[index];
  return "(a table beyond the first 255)";
}

void Mapper::forget() {
  state_->tables.clear();
  state_->base_types.clear();
}

}  // namespace walpost::outbox
