#pragma once

#include <string>
#include <string_view>

namespace walpost::postgres {

/// "name" with inner quotes doubled: always quoted, so that keywords and case need no thought.
[[nodiscard]] std::string quote_identifier(std::string_view name);

/// 'text', or E'text' where it holds a backslash, so that standard_conforming_strings doesn't
/// matter.
[[nodiscard]] std::string quote_literal(std::string_view text);

/// 'text' for a walsender's own grammar, which knows no escape but the doubled quote.
[[nodiscard]] std::string quote_replication_literal(std::string_view text);

/// A table as a person writes it: parts split at dots, unquoted ones folded to lower case as
/// PostgreSQL does, quoted ones taken as they are.
struct TableReference {
  std::string schema;  ///< empty: found by search_path
  std::string table;
  /// Quoted, with the schema where there is one.
  [[nodiscard]] std::string sql() const;
};

/// Throws relay::SessionFailure (refused) for what isn't `table` or `schema.table`.
[[nodiscard]] TableReference parse_table(std::string_view text);

}  // namespace walpost::postgres
