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

struct MappingOptions {
  /// Field name -> column name; replaces what would be recognised. Applies to every outbox table.
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

/// How one table's columns become an Event. Immutable once made; a changed table gets a new one.
class TableMapping {
 public:
  /// Throws UnmappableTable.
  TableMapping(TableShape shape, const MappingOptions& options, std::uint8_t index);

  [[nodiscard]] const TableShape& shape() const { return shape_; }
  [[nodiscard]] const std::string& qualified_name() const { return qualified_name_; }
  /// Dense number of the table among those learned, at most 254; 255 stands for any further one.
  [[nodiscard]] std::uint8_t index() const { return index_; }
  /// The column position of `field`, or nothing where the column set lacks it.
  [[nodiscard]] std::optional<std::size_t> position(Field field) const;
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

 private:
  TableShape shape_;
  std::string qualified_name_;
  std::uint8_t index_;
  std::array<std::optional<std::size_t>, field_count> positions_{};
};

/// Turns Insert messages into Events by the column names of the latest Relation message.
/// Pure: no input or output. One thread. Allocates only when a table is learned and while its scratch
/// space grows.
class Mapper {
 public:
  explicit Mapper(MappingOptions options);
  ~Mapper();
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;

  void learn(const pgoutput::Type& type);
  /// Throws UnmappableTable when the table is not an outbox (any more).
  void learn(const pgoutput::Relation& relation);

  /// Throws ProtocolViolation when the row does not fit its Relation, no Relation was sent, or a
  /// value is one that an INSERT can't carry.
  [[nodiscard]] std::variant<Event, Poison> map(const pgoutput::Insert& insert,
                                                const Position& position);

  /// The name of the table with that index, for messages.
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
