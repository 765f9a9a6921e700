#include "session.h"

#include <string>
#include <vector>

#include "query.h"
#include "quoting.h"

namespace walpost::postgres {

namespace {

struct Setting {
  const char* name;
  const char* value;
  int since;  ///< server_version_num
};

constexpr Setting fixed_settings[] = {
    {"client_encoding", "UTF8", 0},
    {"DateStyle", "ISO, MDY", 0},
    {"IntervalStyle", "postgres", 0},
    {"TimeZone", "UTC", 0},
    {"extra_float_digits", "3", 0},
    {"bytea_output", "hex", 0},
    {"standard_conforming_strings", "on", 0},
    {"search_path", "pg_catalog", 0},  // reg* values are qualified the same way everywhere
    {"statement_timeout", "0", 0},
    {"lock_timeout", "0", 0},
    {"idle_in_transaction_session_timeout", "0", 0},
    {"idle_session_timeout", "0", 140000},
    {"transaction_timeout", "0", 170000},
};

}  // namespace

void fix_settings(PGconn* connection, Wait& wait) {
  // Looks up nothing but built-in functions, so it is harmless on a walsender: see
  // read_catalogue().
  std::string sql = "SELECT";
  std::string_view gap = " ";
  for (const Setting& setting : fixed_settings) {
    if (PQserverVersion(connection) < setting.since) continue;
    sql += gap;
    sql += "pg_catalog.set_config(" + quote_literal(setting.name) + ", " +
           quote_literal(setting.value) + ", false)";
    gap = ", ";
  }
  execute(connection, sql, wait, "setting up the session");
}

}  // namespace walpost::postgres
