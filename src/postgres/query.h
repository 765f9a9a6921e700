#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "handles.h"
#include "pgoutput/lsn.h"
#include "wait.h"

namespace walpost::postgres {

/// The rows of one result, read by column name. Naming a column that the query doesn't have is a
/// mistake in this room and throws std::logic_error.
class Rows {
 public:
  explicit Rows(Result result) : result_(std::move(result)) {}

  [[nodiscard]] int size() const { return PQntuples(result_.get()); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Nothing for SQL NULL. The view lives as long as this.
  [[nodiscard]] std::optional<std::string_view> text(int row, const char* column) const;
  /// Empty for SQL NULL.
  [[nodiscard]] std::string string(int row, const char* column) const;
  /// True for boolean true in either spelling, 't' or 'true'.
  [[nodiscard]] bool flag(int row, const char* column) const;
  [[nodiscard]] std::optional<std::int64_t> number(int row, const char* column) const;
  /// Zero for SQL NULL.
  [[nodiscard]] pgoutput::Lsn lsn(int row, const char* column) const;

 private:
  Result result_;
};

/// Sends what is queued. Waits as `wait` allows; throws SqlError when the connection is lost.
void flush(PGconn* connection, Wait& wait, std::string_view doing);

/// Waits for input and takes it in; false when the connection is lost.
[[nodiscard]] bool await_input(PGconn* connection, Wait& wait, std::string_view doing);

/// Whether decrypted bytes may wait inside the TLS or GSS library, where poll() doesn't see them.
[[nodiscard]] bool is_encrypted(PGconn* connection);

/// Runs one statement by the simple protocol, the only one that a walsender speaks. Throws
/// SqlError, or relay::SessionFailure when `wait` is over. After START_REPLICATION the connection
/// streams.
Result execute(PGconn* connection, const std::string& sql, Wait& wait, std::string_view doing);

[[nodiscard]] inline Rows select(PGconn* connection, const std::string& sql, Wait& wait,
                                 std::string_view doing = "reading the catalogue") {
  return Rows(execute(connection, sql, wait, doing));
}

}  // namespace walpost::postgres
