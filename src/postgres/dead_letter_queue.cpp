#include "walpost/postgres/dead_letter_queue.h"

#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "dead_letter_session.h"
#include "quoting.h"
#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

constexpr const char* columns =
    "SELECT id, state, event_id, table_name, commit_lsn, ordinal, topic, key, headers, row_headers,"
    " reason, attempts, first_failure, last_failure, ";
constexpr const char* with_value = "value";
constexpr const char* no_value = "NULL AS value";
constexpr const char* stream_order = " ORDER BY commit_lsn, ordinal, id";

std::optional<std::string> text_of(const Rows& rows, int row, const char* column) {
  const auto text = rows.text(row, column);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// The bytes of a bytea as PostgreSQL prints it.
std::string bytes_of(std::string_view printed) {
  std::size_t size = 0;
  const std::unique_ptr<unsigned char, decltype(&PQfreemem)> bytes(
      PQunescapeBytea(reinterpret_cast<const unsigned char*>(printed.data()), &size), &PQfreemem);
  if (bytes == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(bytes.get()), size};
}

/// The operator may have edited them: anything but an array of [name, text or null] is refused.
KeptLetter::Headers headers_of(std::int64_t id, std::string_view json) {
  KeptLetter::Headers headers;
  try {
    for (const auto& pair : nlohmann::json::parse(json)) {
      const auto& value = pair.at(1);
      headers.emplace_back(
          pair.at(0).get<std::string>(),
          value.is_null() ? std::nullopt : std::optional(value.get<std::string>()));
    }
  } catch (const nlohmann::json::exception&) {
    throw relay::SessionFailure(
        relay::FailureKind::refused, relay::Side::postgres,
        "dead letter " + std::to_string(id) + ": its headers can't be read",
        "make column headers of walpost.dead_letter an array such as [[\"name\", \"value\"]]");
  }
  return headers;
}

KeptLetter letter_of(const Rows& rows, int row) {
  KeptLetter letter;
  letter.id = rows.number(row, "id").value_or(0);
  letter.state = rows.string(row, "state");
  letter.event_id = text_of(rows, row, "event_id");
  letter.table = rows.string(row, "table_name");
  letter.commit_lsn = rows.lsn(row, "commit_lsn");
  letter.ordinal = rows.number(row, "ordinal").value_or(0);
  letter.topic = text_of(rows, row, "topic");
  letter.key = text_of(rows, row, "key");
  if (const auto value = rows.text(row, "value")) letter.value = bytes_of(*value);
  letter.headers = headers_of(letter.id, rows.string(row, "headers"));
  letter.row_headers = text_of(rows, row, "row_headers");
  letter.reason = rows.string(row, "reason");
  letter.attempts = rows.number(row, "attempts").value_or(0);
  letter.first_failure = rows.string(row, "first_failure");
  letter.last_failure = rows.string(row, "last_failure");
  return letter;
}

}  // namespace

struct DeadLetterQueue::Impl {
  Impl(const Options& options, relay::Clock& clock)
      : slot(options.slot),
        of_slot(" FROM walpost.dead_letter WHERE slot = " + quote_literal(options.slot)),
        session(options, clock) {}

  std::vector<KeptLetter> read(const std::string& source, const char* value = with_value) {
    const Rows rows =
        session.ask(std::string(columns) + value + " FROM (" + source + ") letters" + stream_order);
    std::vector<KeptLetter> letters;
    letters.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) letters.push_back(letter_of(rows, row));
    return letters;
  }
  void update(const std::vector<std::int64_t>& ids, const std::string& change) {
    std::string listed;
    for (const std::int64_t id : ids) listed += (listed.empty() ? "" : ", ") + std::to_string(id);
    session.ask("UPDATE walpost.dead_letter SET " + change +
                " WHERE slot = " + quote_literal(slot) + " AND id IN (" + listed + ")");
  }

  std::string slot;
  std::string of_slot;
  DeadLetterSession session;
};

DeadLetterQueue::DeadLetterQueue(const Options& options, relay::Clock& clock)
    : impl_(std::make_unique<Impl>(options, clock)) {}

DeadLetterQueue::~DeadLetterQueue() = default;

std::vector<KeptLetter> DeadLetterQueue::list(bool all) {
  return impl_->read("SELECT *" + impl_->of_slot + (all ? "" : " AND state IN ('dead', 'parked')"),
                     no_value);
}

std::optional<KeptLetter> DeadLetterQueue::find(std::int64_t id) {
  auto letters = impl_->read("SELECT *" + impl_->of_slot + " AND id = " + std::to_string(id));
  if (letters.empty()) return std::nullopt;
  return std::move(letters.front());
}

std::vector<KeptLetter> DeadLetterQueue::next_of(const std::string& key) {
  return impl_->read(
      "SELECT * FROM (SELECT *, pg_catalog.sum(pg_catalog.octet_length(value)) OVER w"
      " AS bytes, pg_catalog.row_number() OVER w AS nth" +
      impl_->of_slot + " AND state IN ('dead', 'parked') AND key = " + quote_literal(key) +
      " WINDOW w AS (" + stream_order +
      ")) letters WHERE nth = 1 OR (bytes <= 16777216 AND nth <= 500)" + stream_order);
}

void DeadLetterQueue::lock_retries() {
  const Rows rows =
      impl_->session.ask("SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended(" +
                         quote_literal("walpost.dlq/" + impl_->slot) + ", 0)) AS locked");
  if (rows.flag(0, "locked")) return;
  throw relay::SessionFailure(
      relay::FailureKind::refused, relay::Side::postgres,
      "letters of slot " + impl_->slot + " are being retried or discarded by another process",
      "wait until it has ended");
}

void DeadLetterQueue::published(const std::vector<std::int64_t>& ids) {
  if (!ids.empty()) impl_->update(ids, "state = 'published'");
}

void DeadLetterQueue::failed_again(std::int64_t id, const std::string& reason) {
  impl_->update({id}, "attempts = attempts + 1, last_failure = pg_catalog.now(), reason = " +
                          quote_literal(reason));
}

void DeadLetterQueue::discard(std::int64_t id) {
  impl_->update({id}, "state = 'discarded'");
}

bool DeadLetterQueue::release(const std::string& key) {
  const std::string of_key =
      " WHERE slot = " + quote_literal(impl_->slot) + " AND key = " + quote_literal(key);
  return impl_->session
      .ask(key_lock_sql(impl_->slot, key) + "; DELETE FROM walpost.parked_key" + of_key +
           " AND NOT EXISTS (SELECT FROM walpost.dead_letter" + of_key +
           " AND state = 'parked'); SELECT FROM walpost.parked_key" + of_key)
      .empty();
}

}  // namespace walpost::postgres
