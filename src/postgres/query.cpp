#include "query.h"

#include <charconv>
#include <stdexcept>

#include "sqlstate.h"

namespace walpost::postgres {

namespace {

// How long bytes that were decrypted already may wait unseen: see is_encrypted().
constexpr relay::milliseconds encrypted_turn{20};

}  // namespace

std::optional<std::string_view> Rows::text(int row, const char* column) const {
  const int number = PQfnumber(result_.get(), column);
  if (number < 0 || row >= size()) {
    throw std::logic_error(std::string("no such column or row in a result: ") + column);
  }
  if (PQgetisnull(result_.get(), row, number) != 0) return std::nullopt;
  return std::string_view(PQgetvalue(result_.get(), row, number),
                          static_cast<std::size_t>(PQgetlength(result_.get(), row, number)));
}

std::string Rows::string(int row, const char* column) const {
  return std::string(text(row, column).value_or(""));
}

bool Rows::flag(int row, const char* column) const {
  const auto value = text(row, column);
  return value == "t" || value == "true";
}

std::optional<std::int64_t> Rows::number(int row, const char* column) const {
  const auto value = text(row, column);
  std::int64_t number = 0;
  if (!value) return std::nullopt;
  const char* end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw std::logic_error(std::string("not a whole number in a result: ") + column);
  }
  return number;
}

pgoutput::Lsn Rows::lsn(int row, const char* column) const {
  return pgoutput::Lsn::parse(text(row, column).value_or("0/0")).value_or(pgoutput::Lsn{});
}

void flush(PGconn* connection, Wait& wait, std::string_view doing) {
  int left = PQflush(connection);
  while (left == 1) {
    wait.ready(PQsocket(connection), POLLIN | POLLOUT, doing);
    if (PQconsumeInput(connection) == 0) break;
    left = PQflush(connection);
  }
  if (left != 0) throw SqlError(error_of(nullptr, connection));
}

bool is_encrypted(PGconn* connection) {
  return PQsslInUse(connection) != 0 || PQgssEncInUse(connection) != 0;
}

bool await_input(PGconn* connection, Wait& wait, std::string_view doing) {
  if (is_encrypted(connection)) {
    wait.ready(PQsocket(connection), POLLIN, doing, encrypted_turn);
  } else {
    wait.ready(PQsocket(connection), POLLIN, doing);
  }
  return PQconsumeInput(connection) != 0;
}

Result execute(PGconn* connection, const std::string& sql, Wait& wait, std::string_view doing) {
  if (PQsendQuery(connection, sql.c_str()) == 0) throw SqlError(error_of(nullptr, connection));
  flush(connection, wait, doing);
  Result last;
  std::optional<ServerError> error;  // thrown only when the connection is ready for another query
  while (true) {
    while (PQisBusy(connection) != 0) {
      // A lost connection may have left an error to read; PQgetResult reports either.
      if (!await_input(connection, wait, doing)) break;
    }
    Result result(PQgetResult(connection));
    if (result == nullptr) {
      if (error) throw SqlError(std::move(*error));
      return last;
    }
    switch (PQresultStatus(result.get())) {
      case PGRES_COPY_BOTH:
        return result;
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        last = std::move(result);
        break;
      default:
        error = error_of(result.get(), connection);
    }
  }
}

}  // namespace walpost::postgres
