#include "walpost/postgres/setup.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <algorithm>

#include "catalogue.h"
#include "connect.h"
#include "ddl.h"
#include "preflight.h"
#include "query.h"
#include "walpost/relay/failure.h"

namespace walpost::postgres {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

namespace {

constexpr const char* default_table = "outbox";
// A slot can only be made when every transaction older than it has ended; a publication waits for
// locks on its tables.
constexpr std::chrono::seconds slot_patience{30};
// Beyond the server's own limits, for an answer to arrive.
constexpr std::chrono::seconds answer_patience = slot_patience + std::chrono::seconds{10};

[[noreturn]] void refuse(const std::string& what, std::string mend) {
  throw SessionFailure(FailureKind::refused, Side::postgres, what, std::move(mend));
}

/// An ordinary session for one command.
class SetupSession {
 public:
  explicit SetupSession(const Options& options)
      : names_{options.slot, options.publication, {}, {}} {
    const Conninfo conninfo = session_conninfo(options);
    Wait wait = patience(attempt_timeout(options, conninfo));
    connection_ = connect(conninfo, names_, wait);
  }

  Rows ask(const std::string& sql) {
    try {
      Wait wait = patience(answer_patience);
      return select(connection_.get(), sql, wait, "setting up");
    } catch (const SqlError& error) {
      throw failure(Phase::setting_up, error.error(), names_);
    }
  }

  [[nodiscard]] PGconn* connection() const { return connection_.get(); }
  [[nodiscard]] Wait patience(relay::milliseconds time) {
    return {clock_, clock_.now() + time, Wait::Interrupts::any_stop};
  }
  [[nodiscard]] const Names& names() const { return names_; }

 private:
  CommandClock clock_;
  Names names_;
  Handle connection_;
};

/// A requested table as the server knows it.
struct FoundTable {
  TableReference name;  ///< with its schema
  bool permanent = true;
  bool is_table = true;
};

std::optional<FoundTable> find_table(SetupSession& session, const TableReference& wanted) {
  const Rows rows = session.ask(
      "SELECT n.nspname, c.relname, c.relpersistence, c.relkind IN ('r', 'p') AS is_table"
      " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
      " WHERE c.oid = pg_catalog.to_regclass(" +
      quote_literal(wanted.sql()) + ")");
  if (rows.empty()) return std::nullopt;
  return FoundTable{{rows.string(0, "nspname"), rows.string(0, "relname")},
                    rows.text(0, "relpersistence") == "p",
                    rows.flag(0, "is_table")};
}

class SetupPlan {
 public:
  SetupPlan(SetupSession& session, const Options& options, const SetupRequest& request)
      : session_(session), options_(options), request_(request) {}

  std::vector<SetupStep> make() {
    {
      Wait wait = session_.patience(answer_patience);
      slot_ = read_slot(session_.connection(), options_.slot, wait);
      publication_ = read_publication(session_.connection(), options_.publication, wait);
    }
    check_server();
    // An existing publication says itself which tables are meant, unless the request does.
    const bool asks_for_tables =
        !request_.tables.empty() || request_.create_outbox || !publication_;
    if (asks_for_tables) plan_tables();
    if (request_.dead_letter) {
      steps_.push_back({"tables of schema walpost", dead_letter_ddl(),
                        session_.ask(dead_letter_query).flag(0, "there")});
    }
    plan_publication();
    plan_slot();
    return std::move(steps_);
  }

 private:
  void check_server() {
    const std::string level =
        session_.ask("SELECT pg_catalog.current_setting('wal_level') AS level").string(0, "level");
    database_ = session_.ask("SELECT pg_catalog.current_database() AS name").string(0, "name");
    if (level == "logical") return;
    refuse("wal_level is " + level + ": changes can't be decoded",
           "ALTER SYSTEM SET wal_level = 'logical'; then restart PostgreSQL");
  }

  void plan_tables() {
    std::vector<std::string> wanted = request_.tables;
    if (wanted.empty()) wanted.emplace_back(default_table);
    for (const std::string& table : wanted) plan_table(table);
  }

  void plan_table(const std::string& text) {
    const TableReference wanted = parse_table(text);
    const auto found = find_table(session_, wanted);
    const OutboxPreset preset = request_.create_outbox.value_or(OutboxPreset::standard);
    if (!found) {
      if (!request_.create_outbox) {
        refuse("table " + text + " does not exist",
               "create it (walpost init --create-outbox does), or name the outbox table");
      }
      steps_.push_back({"table " + text, outbox_ddl(preset, text), false});
      tables_.push_back(wanted);
      return;
    }
    if (!found->is_table) refuse(text + " is not a table", "name the outbox table");
    if (!found->permanent) {
      refuse("table " + text + " is UNLOGGED or temporary: its rows are in no WAL",
             "ALTER TABLE " + found->name.sql() + " SET LOGGED");
    }
    if (request_.create_outbox) {
      steps_.push_back({"table " + text, outbox_ddl(preset, text), true});
    }
    tables_.push_back(found->name);
  }

  void plan_publication() {
    SetupStep step{"publication " + options_.publication,
                   publication_ddl(options_.publication, tables_), publication_.has_value()};
    if (publication_) {
      check_publication_serves();
    } else if (slot_) {
      refuse("slot " + options_.slot + " exists, but publication " + options_.publication +
                 " does not: a slot can't be read with a publication younger than itself",
             "name the slot's publication in postgres.publication; or, if nothing since " +
                 slot_->confirmed.to_string() + " is missed, " + slot_renewal(options_.slot));
    }
    if (!tables_.empty()) steps_.push_back(std::move(step));
  }

  void check_publication_serves() {
    const std::string subject = "publication " + options_.publication;
    const std::string alter = "ALTER PUBLICATION " + quote_identifier(options_.publication);
    if (!publication_->inserts) {
      refuse(subject + " exists, but doesn't publish inserts", alter + " SET (publish = 'insert')");
    }
    for (const TableReference& table : tables_) {
      if (publishes(table)) continue;
      refuse(subject + " exists, but doesn't publish table " + table.sql(),
             "BEGIN; LOCK TABLE " + table.sql() + " IN SHARE ROW EXCLUSIVE MODE; " + alter +
                 " ADD TABLE " + table.sql() +
                 "; COMMIT (rows written before that are never published)");
    }
  }

  [[nodiscard]] bool publishes(const TableReference& wanted) const {
    return std::any_of(publication_->tables.begin(), publication_->tables.end(),
                       [&](const TableFacts& table) {
                         return table.schema == wanted.schema && table.table == wanted.table;
                       });
  }

  void plan_slot() {
    if (slot_) check_slot_serves();
    steps_.push_back({"slot " + options_.slot, slot_ddl(options_.slot), slot_.has_value()});
  }

  void check_slot_serves() {
    const std::string subject = "slot " + options_.slot;
    const std::string mend = "name another one in postgres.slot, or " + slot_renewal(options_.slot);
    if (!slot_->logical || slot_->plugin != "pgoutput") {
      refuse(subject + " exists, but isn't a logical one with plugin pgoutput", mend);
    }
    if (slot_->database != database_) {
      refuse(subject + " exists, but in database " + slot_->database + ", not " + database_,
             "slot names are the server's, not a database's: name another one in postgres.slot");
    }
    if (slot_->wal_status == "lost" || !slot_->invalidation_reason.empty()) {
      refuse(subject + " exists, but is lost; events since " + slot_->confirmed.to_string() +
                 " can't be read from it",
             "publish the rows committed since then from the outbox table, then " +
                 slot_renewal(options_.slot));
    }
  }

  SetupSession& session_;
  const Options& options_;
  const SetupRequest& request_;
  std::optional<SlotFacts> slot_;
  std::optional<PublicationFacts> publication_;
  std::string database_;
  std::vector<TableReference> tables_;
  std::vector<SetupStep> steps_;
};

std::string oldest_transactions(SetupSession& session) {
  const Rows rows = session.ask(
      "SELECT pid, usename, application_name,"
      " (extract(epoch FROM pg_catalog.now() - xact_start))::bigint AS age"
      " FROM pg_catalog.pg_stat_activity WHERE backend_xid IS NOT NULL"
      " AND pid <> pg_catalog.pg_backend_pid() ORDER BY xact_start LIMIT 5");
  std::string named;
  for (int row = 0; row < rows.size(); ++row) {
    named += fmt::format("{}process {} (user {}, application {}, {} s old)", row == 0 ? "" : ", ",
                         rows.string(row, "pid"), rows.string(row, "usename"),
                         rows.string(row, "application_name"), rows.number(row, "age").value_or(0));
  }
  return named.empty() ? "none is visible now" : named;
}

void run_step(SetupSession& session, const SetupStep& step) {
  try {
    Wait wait = session.patience(answer_patience);
    execute(session.connection(), step.sql, wait, "setting up");
  } catch (const SqlError& error) {
    const std::string& sqlstate = error.error().sqlstate;
    if (sqlstate == "57014" || sqlstate == "55P03") {
      throw SessionFailure(
          FailureKind::refused, Side::postgres,
          step.what + " couldn't be made in time: it waits for older transactions to end: " +
              oldest_transactions(session),
          "end them (SELECT pg_terminate_backend(pid) if need be), prepared ones too (SELECT * "
          "FROM "
          "pg_prepared_xacts), and run walpost init again");
    }
    throw failure(Phase::setting_up, error.error(), session.names());
  }
  spdlog::debug("{}: created", step.what);
}

}  // namespace

std::vector<SetupStep> plan_setup(const Options& options, const SetupRequest& request) {
  SetupSession session(options);
  try {
    return SetupPlan(session, options, request).make();
  } catch (const SqlError& error) {
    throw failure(Phase::setting_up, error.error(), session.names());
  }
}

void apply_setup(const Options& options, const std::vector<SetupStep>& steps) {
  SetupSession session(options);
  session.ask(
      fmt::format("SELECT pg_catalog.set_config('statement_timeout', '{}s', false),"
                  " pg_catalog.set_config('lock_timeout', '0', false)",
                  slot_patience.count()));
  for (const SetupStep& step : steps) {
    if (!step.done) run_step(session, step);
  }
}

}  // namespace walpost::postgres
