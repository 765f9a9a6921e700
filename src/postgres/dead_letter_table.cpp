#include "walpost/postgres/dead_letter_table.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "dead_letter_session.h"
#include "quoting.h"

namespace walpost::postgres {

using relay::DeadLetter;
using relay::KeptLetters;

namespace {

constexpr const char* postgres_epoch = "timestamptz '2000-01-01 00:00:00+00'";

std::string literal(const std::optional<std::string_view>& text) {
  return text ? quote_literal(*text) : "NULL";
}

std::string bytes_literal(const std::optional<std::string_view>& bytes) {
  if (!bytes) return "NULL";
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\\x";
  text.reserve(2 + 2 * bytes->size());
  for (const char c : *bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4u];
    text += digits[byte & 0xFu];
  }
  return quote_literal(text) + "::bytea";
}

/// An array of [name, value]: names may repeat.
std::string headers_json(std::span<const outbox::Header> headers) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [name, value] : headers) {
    all.push_back({std::string(name), value ? nlohmann::json(std::string(*value)) : nullptr});
  }
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// `condition`: empty, or a WHERE clause without which nothing is inserted.
std::string insert_sql(const std::string& slot, const DeadLetter& letter, std::string_view state,
                       const std::string& condition) {
  const std::optional<std::string_view> row_headers =
      letter.row_headers.empty() ? std::nullopt : std::optional(letter.row_headers);
  const std::optional<std::string_view> event_id =
      letter.event_id.empty() ? std::nullopt : std::optional(letter.event_id);
  return "INSERT INTO walpost.dead_letter (slot, commit_lsn, ordinal, committed_at, event_id,"
         " table_name, topic, key, headers, value, row_headers, reason, state) SELECT " +
         quote_literal(slot) + ", " + quote_literal(letter.position.commit_lsn.to_string()) +
         "::pg_lsn, " + std::to_string(letter.position.ordinal) + ", " + postgres_epoch + " + " +
         std::to_string(letter.position.committed_at.micros) + " * interval '1 microsecond', " +
         literal(event_id) + ", " + quote_literal(letter.table) + ", " + literal(letter.topic) +
         ", " + literal(letter.key) + ", " + quote_literal(headers_json(letter.headers)) +
         "::json, " + bytes_literal(letter.value) + ", " + literal(row_headers) + ", " +
         quote_literal(letter.reason) + ", " + quote_literal(state) + condition +
         " ON CONFLICT DO NOTHING";
}

outbox::Position position_of(const Rows& rows, int row) {
  return {rows.lsn(row, "commit_lsn"),
          static_cast<std::uint32_t>(rows.number(row, "ordinal").value_or(0)),
          {}};
}

}  // namespace

struct DeadLetterTable::Impl {
  Impl(Options options, relay::Clock& clock)
      : slot(options.slot), session(std::move(options), clock) {}

  std::string slot;
  DeadLetterSession session;
};

DeadLetterTable::DeadLetterTable(Options options, relay::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}

DeadLetterTable::~DeadLetterTable() = default;

KeptLetters DeadLetterTable::recall(const relay::StreamStart& start) {
  impl_->session.disconnect();  // the server may be another one since
  const std::string of_slot = " WHERE slot = " + quote_literal(impl_->slot);
  KeptLetters kept;
  const Rows keys =
      impl_->session.ask("SELECT key, commit_lsn, ordinal FROM walpost.parked_key" + of_slot);
  for (int row = 0; row < keys.size(); ++row)
    kept.parked_keys.push_back({keys.string(row, "key"), position_of(keys, row)});
  // The server sends again only transactions whose commit record starts there or later.
  const Rows letters = impl_->session.ask(
      std::string("SELECT commit_lsn, ordinal,"
                  " (extract(epoch FROM committed_at - ") +
      postgres_epoch + ") * 1000000)::bigint AS micros FROM walpost.dead_letter" + of_slot +
      " AND commit_lsn >= " + quote_literal(start.start.to_string()));
  for (int row = 0; row < letters.size(); ++row) {
    outbox::Position position = position_of(letters, row);
    position.committed_at = {letters.number(row, "micros").value_or(0)};
    kept.positions.push_back(position);
  }
  const Rows ages = impl_->session.ask(
      "SELECT (extract(epoch FROM pg_catalog.now() - first_failure) * 1000)::bigint AS age"
      " FROM walpost.dead_letter" +
      of_slot + " AND first_failure > pg_catalog.now() - interval '1 hour'");
  for (int row = 0; row < ages.size(); ++row) {
    kept.recent.emplace_back(ages.number(row, "age").value_or(0));
  }
  return kept;
}

void DeadLetterTable::keep(const DeadLetter& letter) {
  impl_->session.renew_if_idle();
  impl_->session.ask(insert_sql(impl_->slot, letter, "dead", ""));
}

// Statements that are sent together are one transaction, in which each sees what was committed
// before it began: also by whoever held the lock.
void DeadLetterTable::park(const DeadLetter& letter) {
  impl_->session.renew_if_idle();
  impl_->session.ask(key_lock_sql(impl_->slot, *letter.key) +
                     "; INSERT INTO walpost.parked_key (slot, key, commit_lsn, ordinal) VALUES (" +
                     quote_literal(impl_->slot) + ", " + quote_literal(*letter.key) + ", " +
                     quote_literal(letter.position.commit_lsn.to_string()) + ", " +
                     std::to_string(letter.position.ordinal) + ") ON CONFLICT DO NOTHING; " +
                     insert_sql(impl_->slot, letter, "parked", ""));
}

bool DeadLetterTable::keep_waiting(const DeadLetter& letter) {
  impl_->session.renew_if_idle();
  const std::string if_parked =
      "EXISTS (SELECT FROM walpost.parked_key WHERE slot = " + quote_literal(impl_->slot) +
      " AND key = " + quote_literal(*letter.key) + ")";
  return impl_->session
      .ask(key_lock_sql(impl_->slot, *letter.key) + "; " +
           insert_sql(impl_->slot, letter, "parked", " WHERE " + if_parked) + "; SELECT " +
           if_parked + " AS parked")
      .flag(0, "parked");
}

}  // namespace walpost::postgres
