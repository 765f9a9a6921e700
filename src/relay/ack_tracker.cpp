#include "walpost/relay/ack_tracker.h"

#include <algorithm>
#include <stdexcept>

namespace walpost::relay {
namespace {

constexpr std::size_t initial_capacity = 1024;  // a power of two, as every capacity

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace

AckTracker::AckTracker(std::uint32_t first_number)
    : ring_(initial_capacity), front_number_(first_number % Token::transaction_modulus) {}

void AckTracker::reset(pgoutput::Lsn start) {
  head_ = 0;
  size_ = 0;
  outstanding_ = 0;
  received_ = start;
  confirmable_ = start;
}

void AckTracker::begin(pgoutput::Lsn commit_lsn, pgoutput::Timestamp committed_at) {
  require(!in_transaction(), "ack tracker: a transaction begins inside another");
  require(size_ < Token::transaction_modulus / 2, "ack tracker: too many transactions in flight");
  if (size_ == ring_.size()) grow();
  at(size_) = Transaction{.commit_lsn = commit_lsn, .end_lsn = {}, .committed_at = committed_at};
  ++size_;
}

Token AckTracker::add_record(std::uint8_t table) {
  require(in_transaction(), "ack tracker: a record outside a transaction");
  Transaction& open = at(size_ - 1);
  const auto number = front_number_ + static_cast<std::uint32_t>(size_ - 1);
  const Token token(number, open.published, table);
  ++open.published;
  ++open.outstanding;
  ++outstanding_;
  return token;
}

void AckTracker::commit(pgoutput::Lsn end_lsn) {
  require(in_transaction(), "ack tracker: a commit outside a transaction");
  Transaction& open = at(size_ - 1);
  if (open.published == 0) {
    --size_;
    pass(end_lsn);
    return;
  }
  require(end_lsn > open.commit_lsn, "ack tracker: a commit ends before it starts");
  open.end_lsn = end_lsn;
  open.sealed = true;
  received_ = std::max(received_, end_lsn);
  advance();
}

void AckTracker::keepalive(pgoutput::Lsn wal_end) {
  if (in_transaction()) {
    // The commit that closes the open transaction lies beyond anything sent so far.
    received_ = std::max(received_, wal_end);
    return;
  }
  pass(wal_end);
}

// A position without records: confirmed together with whatever stands before it.
void AckTracker::pass(pgoutput::Lsn position) {
  received_ = std::max(received_, position);
  if (size_ == 0) {
    confirmable_ = std::max(confirmable_, position);
    return;
  }
  Transaction& last = at(size_ - 1);
  last.end_lsn = std::max(last.end_lsn, position);
}

void AckTracker::delivered(Token token) {
  const auto index = index_of(token);
  require(index.has_value(), "ack tracker: a report for no transaction in flight");
  Transaction& transaction = at(*index);
  require(transaction.outstanding > 0, "ack tracker: more reports than records");
  --transaction.outstanding;
  --outstanding_;
  if (*index == 0) advance();
}

void AckTracker::advance() {
  while (size_ > 0 && at(0).sealed && at(0).outstanding == 0) {
    confirmable_ = std::max(confirmable_, at(0).end_lsn);
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    front_number_ = (front_number_ + 1) % Token::transaction_modulus;
  }
}

bool AckTracker::in_transaction() const {
  return size_ > 0 && !at(size_ - 1).sealed;
}

pgoutput::Lsn AckTracker::sealed() const {
  const std::size_t complete = in_transaction() ? size_ - 1 : size_;
  return complete == 0 ? confirmable_ : at(complete - 1).end_lsn;
}

std::uint32_t AckTracker::open_records() const {
  return in_transaction() ? at(size_ - 1).published : 0;
}

pgoutput::Lsn AckTracker::open_commit_lsn() const {
  return in_transaction() ? at(size_ - 1).commit_lsn : pgoutput::Lsn{};
}

std::optional<TransactionPosition> AckTracker::find(Token token) const {
  const auto index = index_of(token);
  if (!index) return std::nullopt;
  return TransactionPosition{at(*index).commit_lsn, at(*index).committed_at};
}

std::optional<std::size_t> AckTracker::index_of(Token token) const {
  const std::size_t index =
      (token.transaction() - front_number_) & (Token::transaction_modulus - 1);
  if (index >= size_) return std::nullopt;
  return index;
}

void AckTracker::grow() {
  std::vector<Transaction> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < size_; ++i) larger[i] = at(i);
  ring_ = std::move(larger);
  head_ = 0;
}

}  // namespace walpost::relay
