#include "dead_letter_session.h"

#include <utility>

#include "connect.h"
#include "quoting.h"
#include "session.h"

namespace walpost::postgres {
namespace {

// Letters are written on the loop's thread, which has to give signs of life in between.
constexpr relay::milliseconds answer_patience{7000};
constexpr std::chrono::minutes idle_limit{1};
constexpr const char* settings =
    "SELECT pg_catalog.set_config('statement_timeout', '5s', false),"
    " pg_catalog.set_config('lock_timeout', '3s', false),"
    " pg_catalog.set_config('default_transaction_isolation', 'read committed', false),"
    " pg_catalog.set_config('synchronous_commit', CASE pg_catalog.current_setting("
    "'synchronous_commit') WHEN 'off' THEN 'on' ELSE pg_catalog.current_setting("
    "'synchronous_commit') END, false)";

}  // namespace

DeadLetterSession::DeadLetterSession(Options options, relay::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      names_{options_.slot, options_.publication, {}, {}} {}

Rows DeadLetterSession::ask(const std::string& sql) {
  try {
    Wait connecting(clock_, clock_.now() + options_.connect_timeout,
                    Wait::Interrupts::further_stop);
    connect_if_needed(connecting);
    Wait wait(clock_, clock_.now() + answer_patience, Wait::Interrupts::further_stop);
    used_ = clock_.now();
    return select(connection_.get(), sql, wait, "keeping a dead letter");
  } catch (const SqlError& error) {
    connection_.reset();
    throw failure(Phase::dead_letters, error.error(), names_);
  } catch (...) {
    connection_.reset();
    throw;
  }
}

void DeadLetterSession::renew_if_idle() {
  if (clock_.now() - used_ > idle_limit) disconnect();
}

void DeadLetterSession::connect_if_needed(Wait& wait) {
  if (connection_ != nullptr) return;
  connection_ = connect(session_conninfo(options_), names_, wait);
  fix_settings(connection_.get(), wait);
  execute(connection_.get(), settings, wait, "setting up the session");
}

std::string key_lock_sql(const std::string& slot, std::string_view key) {
  return "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(" +
         quote_literal("walpost.parked_key/" + slot + "/" + std::string(key)) + ", 0))";
}

}  // namespace walpost::postgres
