#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "pgoutput/lsn.h"

/// The messages of the logical replication protocol, versions 1 to 4, one plain struct each.
/// Every string_view and Tuple points into the bytes given to decode() and lives as long as they
/// do. Source: PostgreSQL documentation, "Logical Replication Message Formats".
namespace pgoutput {

enum class Oid : std::uint32_t {};
enum class Xid : std::uint32_t {};

/// Microseconds since 2000-01-01 00:00:00 UTC (PostgreSQL's epoch); may be negative.
struct Timestamp {
  std::int64_t micros = 0;
  // clang-tidy 14 takes its rewritten form for a null pointer:
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
};

/// One column of a row.
struct Value {
  enum class Kind : char {
    null = 'n',
    /// A TOASTed value that an UPDATE left alone and that is not sent. Found in an Insert only
    /// where a row filter made the server turn an UPDATE into one; its value is then not to be had.
    unchanged = 'u',
    text = 't',
    binary = 'b',
  };
  Kind kind = Kind::null;
  std::string_view bytes;  ///< empty for null and unchanged
};

/// A row as a view over bytes that decode() has already checked, so iterating cannot fail and
/// allocates nothing.
class Tuple {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = Value;

    Iterator() = default;
    Iterator(const char* at, std::uint16_t left) : at_(at), left_(left) {}
    Value operator*() const {
      return has_bytes() ? Value{kind(), {at_ + header_size, size()}} : Value{kind(), {}};
    }
    Iterator& operator++() {
      at_ += has_bytes() ? header_size + size() : 1;
      --left_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.left_ == b.left_; }

   private:
    static constexpr std::size_t header_size = 5;  // the kind and a 32-bit length

    [[nodiscard]] Value::Kind kind() const { return Value::Kind{*at_}; }
    [[nodiscard]] bool has_bytes() const {
      return kind() == Value::Kind::text || kind() == Value::Kind::binary;
    }
    /// The big-endian length after the kind of a value that has bytes.
    [[nodiscard]] std::uint32_t size() const {
      const auto byte = [this](int i) { return std::uint32_t{static_cast<unsigned char>(at_[i])}; };
      return byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4);
    }

    const char* at_ = nullptr;
    std::uint16_t left_ = 0;
  };

  Tuple() = default;
  /// `values` must hold exactly `columns` well-formed values; only decode() makes such bytes.
  Tuple(std::uint16_t columns, std::string_view values) : columns_(columns), values_(values) {}

  [[nodiscard]] std::uint16_t size() const { return columns_; }
  [[nodiscard]] Iterator begin() const { return {values_.data(), columns_}; }
  [[nodiscard]] Iterator end() const { return {values_.data() + values_.size(), 0}; }

 private:
  std::uint16_t columns_ = 0;
  std::string_view values_;
};

struct Begin {
  Lsn final_lsn;  ///< start of the commit record; equals Commit::commit_lsn of the same transaction
  Timestamp committed_at;
  Xid xid{};
};

struct Commit {
  std::uint8_t flags = 0;
  Lsn commit_lsn;  ///< start of the commit record; confirming it re-sends this transaction
  Lsn end_lsn;     ///< first byte after the commit record; the only LSN to confirm
  Timestamp committed_at;
};

struct Origin {
  Lsn lsn;  ///< commit LSN on the origin server
  std::string_view name;
};

struct Column {
  bool key = false;  ///< part of the replica identity
  std::string_view name;
  Oid type{};
  std::int32_t type_modifier = -1;
};

struct Relation {
  std::optional<Xid> xid;  ///< here and below: present only between StreamStart and StreamStop
  Oid oid{};
  std::string_view schema;  ///< empty for pg_catalog
  std::string_view name;
  char replica_identity = 'd';
  std::vector<Column> columns;
};

/// Announces a type that is not built in. For a domain the name is that of its base type.
struct Type {
  std::optional<Xid> xid;
  Oid oid{};
  std::string_view schema;  ///< empty for pg_catalog
  std::string_view name;
};

struct Insert {
  std::optional<Xid> xid;
  Oid relation{};
  Tuple row;
};

/// The former row of an UPDATE or DELETE: its replica identity columns, or all of them.
struct OldRow {
  enum class Kind : char { key = 'K', full = 'O' };
  Kind kind = Kind::key;
  Tuple row;
};

struct Update {
  std::optional<Xid> xid;
  Oid relation{};
  std::optional<OldRow> old;
  Tuple row;
};

struct Delete {
  std::optional<Xid> xid;
  Oid relation{};
  OldRow old;
};

struct Truncate {
  std::optional<Xid> xid;
  bool cascade = false;
  bool restart_identity = false;
  std::vector<Oid> relations;
};

/// pg_logical_emit_message.
struct LogicalMessage {
  std::optional<Xid> xid;
  bool transactional = false;
  Lsn lsn;  ///< what pg_logical_emit_message returned: the end of its record
  std::string_view prefix;
  std::string_view content;
};

struct StreamStart {
  Xid xid{};
  bool first_segment = false;
};
struct StreamStop {};
struct StreamCommit {
  Xid xid{};
  std::uint8_t flags = 0;
  Lsn commit_lsn;
  Lsn end_lsn;
  Timestamp committed_at;
};
struct StreamAbort {
  Xid xid{};
  Xid subxid{};
  std::optional<Lsn> abort_lsn;  ///< end of the abort record; both only with streaming = parallel
  std::optional<Timestamp> aborted_at;
};
struct BeginPrepare {
  Lsn prepare_lsn;
  Lsn end_lsn;
  Timestamp prepared_at;
  Xid xid{};
  std::string_view gid;
};
struct Prepare {
  std::uint8_t flags = 0;
  Lsn prepare_lsn;
  Lsn end_lsn;
  Timestamp prepared_at;
  Xid xid{};
  std::string_view gid;
};
struct StreamPrepare {
  std::uint8_t flags = 0;
  Lsn prepare_lsn;
  Lsn end_lsn;
  Timestamp prepared_at;
  Xid xid{};
  std::string_view gid;
};
struct CommitPrepared {
  std::uint8_t flags = 0;
  Lsn commit_lsn;
  Lsn end_lsn;
  Timestamp committed_at;
  Xid xid{};
  std::string_view gid;
};
struct RollbackPrepared {
  std::uint8_t flags = 0;
  Lsn prepare_end_lsn;
  Lsn rollback_end_lsn;
  Timestamp prepared_at;
  Timestamp rolled_back_at;
  Xid xid{};
  std::string_view gid;
};

using Message =
    std::variant<Begin, Commit, Origin, Relation, Type, Insert, Update, Delete, Truncate,
                 LogicalMessage, StreamStart, StreamStop, StreamCommit, StreamAbort, BeginPrepare,
                 Prepare, StreamPrepare, CommitPrepared, RollbackPrepared>;

}  // namespace pgoutput
