#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pgoutput/messages.h"
#include "walpost/outbox/mapper.h"

namespace walpost::outbox::testing {

/// PostgreSQL's object ids, from its pg_type.
namespace oid {
inline constexpr pgoutput::Oid bytea{17}, int8{20}, int2{21}, int4{23}, text{25}, json{114},
    xml{142}, bpchar{1042}, varchar{1043}, date{1082}, timestamp{1114}, timestamptz{1184},
    uuid{2950}, jsonb{3802};
inline constexpr pgoutput::Oid first_user_type{16400};
}  // namespace oid

using Typed = std::pair<std::string_view, pgoutput::Oid>;
using Text = std::optional<std::string_view>;

inline constexpr pgoutput::Oid table_oid{5000};

inline pgoutput::Relation relation(const std::vector<Typed>& columns,
                                   std::string_view name = "outbox",
                                   pgoutput::Oid oid = table_oid) {
  pgoutput::Relation made;
  made.oid = oid;
  made.schema = "app";
  made.name = name;
  for (const auto& [column, type] : columns) made.columns.push_back({false, column, type, -1});
  return made;
}

/// A row as it stands in an Insert message.
class Row {
 public:
  Row() = default;
  Row(std::initializer_list<Text> values) {
    for (const Text& value : values) add(value);
  }

  Row& add(const Text& value) { return value ? add('t', *value) : add_bare('n'); }
  Row& add(char kind, std::string_view bytes) {
    add_bare(kind);
    for (const unsigned shift : {24u, 16u, 8u, 0u}) {
      bytes_.push_back(static_cast<char>(bytes.size() >> shift & 0xFF));
    }
    bytes_ += bytes;
    return *this;
  }
  Row& add_bare(char kind) {
    bytes_.push_back(kind);
    ++columns_;
    return *this;
  }

  /// Points into this row.
  [[nodiscard]] pgoutput::Insert insert(pgoutput::Oid table = table_oid) const {
    return {std::nullopt, table, pgoutput::Tuple(columns_, bytes_)};
  }

 private:
  std::uint16_t columns_ = 0;
  std::string bytes_;
};

inline TableShape shape(const std::vector<Typed>& columns, std::string_view name = "outbox") {
  TableShape made{{"app", std::string(name)}, {}};
  for (const auto& [column, type] : columns) made.columns.push_back({std::string(column), type});
  return made;
}

}  // namespace walpost::outbox::testing
