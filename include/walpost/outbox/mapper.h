#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "pgoutput/messages.h"
#include "walpost/outbox/event.h"

namespace walpost::outbox {

/// What a column of an outbox table is for. Order is that of `field_names`.
enum class Field { id, aggregate_type, aggregate_id, event_type, payload, headers, created_at };
inline constexpr std::size_t field_count = 7;
[[nodiscard]] std::string_view field_name(Field field);
/// The field of that exact name, or nothing.
[[nodiscard]] std::optional<Field> field_named(std::string_view name);

struct MappingOptions {
  /// Field name -> column name; replaces what would be recognised. Applies to every outbox table.
  /// An empty column name leaves an optional field unused. An unknown field name makes every table
  /// unmappable, so check names with field_named() when they are read.
  std::map<std::string, std::string> columns;
  bool tombstones = false;  ///< a NULL payload is a Kafka tombstone instead of poison
};

/// The published columns of one table, from a Relation message or from the catalogue.
struct TableShape {
  struct Column {
    std::string name;
    pgoutput::Oid type{};  ///< a domain's base type where that is known
  };
  TableName name;
  std::vector<Column> columns;
};

/// A table in the publication whose columns can't be understood as an outbox. The text lists what
/// was found and what to map.
class UnmappableTable : public std::runtime_error {
 public:
  UnmappableTable(std::string table, const std::string& what, std::string mend)
      : std::runtime_error(what), table_(std::move(table)), mend_(std::move(mend)) {}
  [[nodiscard]] const std::string& table() const { return table_; }
  [[nodiscard]] const std::string& mend() const { return mend_; }

 private:
  std::string table_;
  std::string mend_;
};

/// How the text that PostgreSQL sends for a column becomes the value that is published.
enum class Rendering {
  as_sent,
  padded,  ///< char(n), also through a domain: the padding blanks are not part of the value
  hex,     ///< a bytea payload
};

/// How one table's columns become an Event. Immutable once made; a changed table gets a new one.
///
/// Columns are found by name. These sets are recognised, the one with the most columns present
/// wins, and `id`, the aggregate's id and `payload` must be there:
///   id, aggregate_type, aggregate_id, event_type, payload, headers, created_at
///   id, aggregatetype, aggregateid, type, payload, headers, created_at            (Debezium's)
///   id, aggregate_type, aggregate_id, effect_type, payload, headers, created_at   (side effects)
/// In the last one the message id is `id` as everywhere: an idempotency_key belongs to the effect,
/// and is not a header by default. The template {idempotency_key} reaches it, like any other
/// column.
///
/// `headers` must be json, jsonb, text, varchar or char; `created_at` timestamp or timestamptz; a
/// domain counts as its base type. A bytea payload is published as the bytes it stands for; a bytea
/// in any other column, and every other type, as the text that PostgreSQL prints.
class TableMapping {
 public:
  /// `index` as below. Throws UnmappableTable.
  TableMapping(TableShape shape, const MappingOptions& options, std::uint8_t index);

  [[nodiscard]] const TableShape& shape() const { return shape_; }
  [[nodiscard]] const std::string& qualified_name() const { return qualified_name_; }
  /// Dense number of the table among those learned, at most 254; 255 stands for any further one.
  [[nodiscard]] std::uint8_t index() const { return index_; }
  /// The column position of `field`, or nothing where the column set lacks it.
  [[nodiscard]] std::optional<std::size_t> position(Field field) const {
    return positions_[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] Rendering rendering(std::size_t column) const { return renderings_[column]; }
  /// Differs between any two mappings made in this process, unlike an address that may be reused;
  /// what is derived from a mapping is kept under it.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  TableShape shape_;
  std::string qualified_name_;
  std::uint8_t index_;
  std::uint64_t generation_;
  std::array<std::optional<std::size_t>, field_count> positions_{};
  std::vector<Rendering> renderings_;
};

/// Turns Insert messages into Events by the column names of the latest Relation message.
/// Pure: no input or output. One thread. Allocates only when a table is learned and while its
/// scratch space grows.
class Mapper {
 public:
  explicit Mapper(MappingOptions options);
  ~Mapper();
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;

  /// Remembers which built-in type a domain stands for; the server says so before the Relation.
  void learn(const pgoutput::Type& type);
  /// Takes the place of what was learned before under the same oid: a table may be altered while
  /// its changes stream. A Relation that is merely repeated keeps its mapping. Throws
  /// UnmappableTable when the table is not an outbox (any more), naming the columns that went; the
  /// table is forgotten then.
  void learn(const pgoutput::Relation& relation);

  /// Throws ProtocolViolation when the row does not fit its Relation, no Relation was sent, or a
  /// value is one that an INSERT can't carry (binary, unchanged, or a bytea not in hex form).
  [[nodiscard]] std::variant<Event, Poison> map(const pgoutput::Insert& insert,
                                                const Position& position);

  /// The same row as an event whatever it lacks: what is missing is empty. For Router::salvage().
  [[nodiscard]] Event remains(const pgoutput::Insert& insert, const Position& position);

  /// The name of the table with that index, for messages. Outlives forget().
  [[nodiscard]] std::string table_name(std::uint8_t index) const;

  /// Forgets every Relation and Type: a new connection sends them again.
  void forget();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The stream broke its own grammar: never skipped, the session ends.
class ProtocolViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace walpost::outbox
