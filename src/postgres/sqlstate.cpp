#include "sqlstate.h"

#include <regex>
#include <vector>

#include "quoting.h"

namespace walpost::postgres {

namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Verdict refused(std::string mend) {
  return {FailureKind::refused, std::move(mend)};
}

Verdict wait() {
  return {FailureKind::transient, {}};
}

std::string grant_replication(const Names& names) {
  return "ALTER ROLE " + quote_identifier(names.role) + " REPLICATION";
}

std::string renew_slot(const Names& names) {
  return "if nothing that was committed since the slot's position is missed: SELECT "
         "pg_drop_replication_slot(" +
         quote_literal(names.slot) +
         "); then walpost init; otherwise publish the rows committed in between from the outbox "
         "table first";
}

std::string older_than_publication(const Names& names) {
  return "publication " + names.publication + " did not exist yet where slot " + names.slot +
         " stands in the WAL (the slot is older, or the publication was dropped or renamed); " +
         renew_slot(names);
}

Verdict classify_connecting(const ServerError& error, const Names& names) {
  if (error.sqlstate == "42501") return refused(grant_replication(names));
  if (error.sqlstate == "3D000") {
    return refused("name an existing database in postgres.url (CREATE DATABASE " +
                   quote_identifier(names.database) + ")");
  }
  if (error.needs_password || error.sqlstate == "28P01") {
    return refused("correct the password: in postgres.url, PGPASSWORD or ~/.pgpass");
  }
  if (starts_with(error.sqlstate, "28")) {
    return refused(
        "correct the user in postgres.url, or allow it in pg_hba.conf (a line for the "
        "database, not for 'replication', is what counts here) and run SELECT "
        "pg_reload_conf()");
  }
  return wait();
}

Verdict classify_starting(const ServerError& error, const Names& names) {
  if (error.sqlstate == "42704") {
    return refused("slot " + names.slot + " is gone; " + renew_slot(names));
  }
  if (error.sqlstate == "42501") return refused(grant_replication(names));
  return refused("run walpost check");
}

Verdict classify_streaming(const ServerError& error, const Names& names) {
  if (error.sqlstate == "42704") return refused(older_than_publication(names));
  if (error.sqlstate == "XX000") {
    return refused(
        "a server that can't decode a change will fail the same way again; if it says "
        "'invalid memory alloc request size' a row is too large to be sent: keep "
        "payloads below 256 MB (a CHECK on octet_length), and update PostgreSQL to its "
        "latest minor release");
  }
  if (starts_with(error.sqlstate, "22")) {
    return refused("a row filter or column of publication " + names.publication +
                   " fails on a row: see the server's log");
  }
  return refused("run walpost check; see the server's log");
}

Verdict classify_setting_up(const ServerError& error, const Names& names) {
  if (error.sqlstate == "42501") {
    return refused(
        "run walpost init as a superuser, or as a role that owns the tables and has: "
        "GRANT CREATE ON DATABASE " +
        quote_identifier(names.database) + " TO " + quote_identifier(names.role) + "; " +
        grant_replication(names));
  }
  if (error.sqlstate == "53400") {
    return refused(
        "raise max_replication_slots and restart PostgreSQL, or drop a slot that nobody "
        "uses: SELECT slot_name, active FROM pg_replication_slots");
  }
  return refused("run walpost init --dry-run to see its SQL");
}

Verdict classify_dead_letters(const ServerError& error, const Names& names) {
  if (error.sqlstate == "42P01" || error.sqlstate == "3F000") {
    return refused("walpost init --dead-letter");
  }
  if (error.sqlstate == "42501") {
    const std::string role = quote_identifier(names.role);
    return refused("GRANT USAGE ON SCHEMA walpost TO " + role +
                   "; GRANT SELECT, INSERT, UPDATE ON walpost.dead_letter TO " + role +
                   "; GRANT SELECT, INSERT, DELETE ON walpost.parked_key TO " + role);
  }
  return refused("compare table walpost.dead_letter with walpost sql dead-letter");
}

Verdict classify_by_phase(Phase phase, const ServerError& error, const Names& names) {
  switch (phase) {
    case Phase::connecting:
      return classify_connecting(error, names);
    case Phase::inspecting:
      return refused("run walpost check");
    case Phase::starting:
      return classify_starting(error, names);
    case Phase::streaming:
      return classify_streaming(error, names);
    case Phase::setting_up:
      return classify_setting_up(error, names);
    case Phase::dead_letters:
      return classify_dead_letters(error, names);
  }
  return refused("run walpost check");
}

// Classes whose errors come from the request or the objects: the same request fails again.
bool is_permanent(std::string_view sqlstate) {
  for (const char* prefix : {"0A", "22", "28", "3D", "3F", "42", "55", "F0", "XX"}) {
    if (starts_with(sqlstate, prefix)) return true;
  }
  return sqlstate == "53400" || sqlstate == "58P01";
}

std::string_view doing(Phase phase) {
  switch (phase) {
    case Phase::connecting:
      return "connecting to PostgreSQL";
    case Phase::inspecting:
      return "reading the catalogue";
    case Phase::starting:
      return "starting replication";
    case Phase::streaming:
      return "streaming";
    case Phase::setting_up:
      return "setting up";
    case Phase::dead_letters:
      return "using table walpost.dead_letter";
  }
  return "talking to PostgreSQL";
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\t' || c == ' ' || c == '\r';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

Verdict classify(Phase phase, const ServerError& error, const Names& names) {
  if (error.sqlstate == "57P03") {
    const bool stopping = error.message.find("shutting down") != std::string::npos;
    return {stopping ? FailureKind::server_stopping : FailureKind::transient, {}};
  }
  if (error.sqlstate == "55006") return {FailureKind::slot_active, {}};
  if (error.sqlstate == "55000" && phase != Phase::setting_up && phase != Phase::connecting) {
    return refused("slot " + names.slot + " can't be used: run walpost check; " +
                   renew_slot(names));
  }
  if (error.sqlstate == "55P03") return wait();
  if (error.needs_password || is_permanent(error.sqlstate)) {
    return classify_by_phase(phase, error, names);
  }
  return wait();
}

SessionFailure failure(Phase phase, const ServerError& error, const Names& names) {
  Verdict verdict = classify(phase, error, names);
  std::string what = std::string(doing(phase)) + ", slot " + names.slot + ": ";
  // Data exceptions may quote the value they failed on.
  const bool may_quote_data = starts_with(error.sqlstate, "22") &&
                              (phase == Phase::streaming || phase == Phase::dead_letters);
  what += may_quote_data ? "a data exception" : one_line(error.message);
  if (!error.detail.empty() && starts_with(error.sqlstate, "55")) {
    what += " (" + one_line(error.detail) + ")";
  }
  if (!error.sqlstate.empty()) what += " [SQLSTATE " + error.sqlstate + "]";
  return {verdict.kind, Side::postgres, what, std::move(verdict.mend)};
}

ServerError error_of(const PGresult* result, const PGconn* connection) {
  const auto field = [&](int code) {
    const char* text = result == nullptr ? nullptr : PQresultErrorField(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  ServerError error{field(PG_DIAG_SQLSTATE), field(PG_DIAG_MESSAGE_PRIMARY),
                    field(PG_DIAG_MESSAGE_DETAIL)};
  if (error.message.empty()) error.message = one_line(PQerrorMessage(connection));
  if (error.message.empty()) error.message = "the connection was lost";
  return error;
}

ServerError parse_connect_error(std::string_view text) {
  static const std::regex location(R"(\n[^\n]*, [A-Za-z0-9_]+\.c:[0-9]+(?=\n|$))");
  static const std::regex state(R"((:  )([0-9A-Z]{5}): )");
  static const std::regex attempt(R"((^|\n)connection to server )");
  const std::string all(text);
  const auto count = [&](const std::regex& pattern) {
    return std::distance(std::sregex_iterator(all.begin(), all.end(), pattern),
                         std::sregex_iterator());
  };
  ServerError error;
  // A host that gave no SQLSTATE was not reached, and may be later.
  if (count(attempt) <= count(state)) {
    for (std::sregex_iterator at(all.begin(), all.end(), state), end; at != end; ++at) {
      const std::string found = (*at)[2];
      if (error.sqlstate.empty() || !is_permanent(found)) error.sqlstate = found;
    }
  }
  error.message = one_line(std::regex_replace(std::regex_replace(all, location, ""), state, "$1"));
  return error;
}

}  // namespace walpost::postgres
