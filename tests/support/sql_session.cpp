#include <libpq-fe.h>

#include "support/postgres_server.h"

namespace walpost::test {
namespace {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

SqlRows rows_of(const PGresult* result) {
  SqlRows rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    std::vector<SqlValue>& values = rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      if (PQgetisnull(result, row, column) != 0)
        values.emplace_back();
      else
        values.emplace_back(PQgetvalue(result, row, column));
    }
  }
  return rows;
}

SqlError error_of(PGconn* connection, const PGresult* result) {
  const char* state = result != nullptr ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const std::string message =
      result != nullptr ? PQresultErrorMessage(result) : PQerrorMessage(connection);
  return {message, state != nullptr ? state : ""};
}

bool succeeded(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

}  // namespace

void Session::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Session::Session(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw error_of(connection_.get(), nullptr);
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

SqlRows Session::rows(const std::string& sql) {
  send(sql);
  return finish();
}

void Session::send(const std::string& sql) {
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) throw error_of(connection_.get(), nullptr);
}

SqlRows Session::finish() {
  SqlRows rows;
  std::optional<SqlError> error;
  while (const Result result{PQgetResult(connection_.get())}) {
    if (succeeded(result.get()))
      rows = rows_of(result.get());
    else if (!error)
      error = error_of(connection_.get(), result.get());
  }
  if (error) throw SqlError(*error);
  return rows;
}

std::string Session::value(const std::string& sql) {
  const SqlRows result = rows(sql);
  if (result.size() != 1 || result[0].size() != 1 || !result[0][0])
    throw std::runtime_error("not exactly one value: " + sql);
  return *result[0][0];
}

}  // namespace walpost::test
