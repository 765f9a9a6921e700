#include <spdlog/spdlog.h>

#include <algorithm>

#include "walpost/relay/session.h"

// What becomes of events that can't be published, or not yet.
namespace walpost::relay {
namespace {

constexpr std::string_view waits = "waits behind an earlier event of its key";

}  // namespace

void Session::serve_pending() {
  if (alone_ && sink_.in_flight() == 0) {
    poison_.acquit(*alone_);
    alone_.reset();
  }
  if (pending_ && !alone_ && hand_on(*pending_)) pending_.reset();
}

// Publishes the event or takes it out of the stream; false: not yet. In this order:
//  1. behind a parked key it waits, whatever else is known of it;
//  2. what can't be published, or was refused, is set aside;
//  3. one of a refused batch goes out alone, so that a refusal tells which one is meant;
//  4. anything else is published.
bool Session::hand_on(const Pending& pending) {
  const outbox::Position& position = pending.event.position;
  const auto condemned = poison_.why_condemned(position);
  const std::string& why_not = condemned ? *condemned : pending.why_not;
  const DeadLetter letter = letter_of(pending, why_not.empty() ? waits : why_not);
  if (letter.key && poison_.is_parked(*letter.key, position) && keep_waiting(pending, letter))
    return true;
  if (!why_not.empty()) return set_aside(pending, letter);
  const bool suspect = poison_.is_suspect(position);
  if (suspect && sink_.in_flight() > 0) return false;
  switch (sink_.publish(*pending.record, pending.token)) {
    case Accepted::yes:
      if (suspect) alone_ = position;
      return true;
    case Accepted::full:
      return false;
    case Accepted::refused:
      return set_aside(pending, letter_of(pending, sink_.refusal()));
  }
  return false;
}

DeadLetter Session::letter_of(const Pending& pending, std::string_view reason) {
  DeadLetter letter;
  letter.position = pending.event.position;
  letter.event_id = pending.event.id;
  letter.table = pending.event.table->qualified_name();
  letter.reason = reason;
  if (const auto& record = pending.record) {
    letter.topic = record->topic;
    letter.key = record->key;
    letter.value = record->value;
    letter.headers = record->headers;
    return letter;
  }
  const outbox::Remains remains = router_.salvage(pending.event);
  letter.topic = remains.topic;
  letter.key = remains.key;
  letter.value = remains.value;
  letter.headers = remains.headers;
  letter.row_headers = remains.row_headers;
  return letter;
}

bool Session::set_aside(const Pending& pending, const DeadLetter& letter) {
  const PoisonOptions& options = poison_.options();
  if (options.action == OnPoison::stop) poisoned(letter, std::string(letter.reason));
  expect_room_for(letter);
  if (!options.dead_letter_topic.empty()) return send_letter(pending, letter);
  if (options.action == OnPoison::park && letter.key) {
    // Whoever publishes the letter must come after all that was sent before it.
    if (sink_.in_flight() > 0) return false;
    poison_.store().park(letter);
    poison_.parked(*letter.key, letter.position);
  } else {
    poison_.store().keep(letter);
  }
  report(letter, "table walpost.dead_letter");
  done_with(pending, letter);
  return true;
}

bool Session::keep_waiting(const Pending& pending, const DeadLetter& letter) {
  expect_room_for(letter);
  if (!poison_.store().keep_waiting(letter)) {
    poison_.released(*letter.key);
    return false;
  }
  done_with(pending, letter);
  return true;
}

void Session::expect_room_for(const DeadLetter& letter) {
  if (poison_.may_keep_another()) return;
  poisoned(letter, std::string(letter.reason) + "; and " +
                       std::to_string(poison_.options().max_dead_letters) +
                       " events were set aside within the last hour, as many as "
                       "delivery.max_dead_letters allows");
}

void Session::report(const DeadLetter& letter, const std::string& place) {
  spdlog::warn("event {} of table {}, commit LSN {}: set aside in {}: {}", letter.event_id,
               letter.table, letter.position.commit_lsn.to_string(), place, letter.reason);
}

void Session::done_with(const Pending& pending, const DeadLetter& letter) {
  poison_.kept(letter.position);
  tracker_.delivered(pending.token);
  ++totals_.dead_letters;
}

// The letter takes the event's place in the stream: its delivery report is the event's.
bool Session::send_letter(const Pending& pending, const DeadLetter& letter) {
  const PoisonOptions& options = poison_.options();
  letter_headers_.assign(letter.headers.begin(), letter.headers.end());
  letter_headers_.push_back({"walpost-dead-letter-reason", letter.reason});
  letter_headers_.push_back({"walpost-dead-letter-topic", letter.topic});
  letter_headers_.push_back({"walpost-dead-letter-table", letter.table});
  if (!letter.row_headers.empty())
    letter_headers_.push_back({"walpost-dead-letter-row-headers", letter.row_headers});
  const outbox::Record record{options.dead_letter_topic, letter.key.value_or(""), letter.value,
                              letter_headers_, letter.position};
  switch (sink_.publish(record, pending.token)) {
    case Accepted::yes:
      break;
    case Accepted::full:
      return false;
    case Accepted::refused:
      poisoned(letter, std::string(letter.reason) + "; and its dead letter: " + sink_.refusal());
  }
  report(letter, "topic " + options.dead_letter_topic);
  poison_.kept(letter.position);
  ++totals_.dead_letters;
  return true;
}

// R4: whatever failed, this producer is finished.
void Session::fail(const std::vector<DeliveryFailure>& failures) {
  std::vector<const DeliveryFailure*> refusals;
  for (const DeliveryFailure& failure : failures)
    if (failure.kind == DeliveryFailure::Kind::permanent) refusals.push_back(&failure);
  if (!refusals.empty()) refused(refusals);
  const DeliveryFailure& first = failures.front();
  throw SessionFailure(
      FailureKind::transient, Side::kafka,
      first.topic.empty() ? first.reason : "topic " + first.topic + ": " + first.reason);
}

// A broker refuses a batch as a whole, without saying for which of its records.
void Session::refused(const std::vector<const DeliveryFailure*>& refusals) {
  const DeliveryFailure& first = *refusals.front();
  const std::string what = "topic " + first.topic + ": " + first.reason;
  const bool tokens =
      std::ranges::all_of(refusals, [](const auto* one) { return one->token.has_value(); });
  if (refusals.size() > 1 && tokens) {
    for (const DeliveryFailure* one : refusals) poison_.suspect(position_of(*one->token));
    throw SessionFailure(FailureKind::set_aside, Side::kafka,
                         what + "; sending its batch of " + std::to_string(refusals.size()) +
                             " events one by one to see which is meant");
  }
  const outbox::Position position = first.token ? position_of(*first.token) : outbox::Position{};
  const std::string table = first.token ? mapper_.table_name(first.token->table()) : "unknown";
  const PoisonOptions& options = poison_.options();
  const bool letter =
      !options.dead_letter_topic.empty() && first.topic == options.dead_letter_topic;
  if (options.action == OnPoison::stop || !first.token || letter)
    poisoned({.position = position, .event_id = first.event_id, .table = table}, what);
  poison_.condemn(position, what);
  throw SessionFailure(
      FailureKind::set_aside, Side::kafka,
      what + "; setting event " + first.event_id + " of table " + table + " aside");
}

outbox::Position Session::position_of(Token token) const {
  const auto transaction = tracker_.find(token);
  if (!transaction) return {};
  return {transaction->commit_lsn, token.ordinal(), transaction->committed_at};
}

void Session::poisoned(const DeadLetter& letter, const std::string& what) {
  const outbox::Position& position = letter.position;
  const pgoutput::Lsn past{position.commit_lsn.value + 1};
  throw SessionFailure(FailureKind::poisoned, Side::walpost,
                       "event " +
                           std::string(letter.event_id.empty() ? "without id" : letter.event_id) +
                           " of table " + std::string(letter.table) + ", commit LSN " +
                           position.commit_lsn.to_string() + ", number " +
                           std::to_string(position.ordinal) + " in its transaction: " + what,
                       "mend the cause and start again, or publish the whole transaction by other "
                       "means and skip it: "
                       "SELECT pg_replication_slot_advance('" +
                           options_.slot + "', '" + past.to_string() + "')" +
                           (forget_position_.empty() ? "" : ", and " + forget_position_));
}

}  // namespace walpost::relay
