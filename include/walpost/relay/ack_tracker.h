#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pgoutput/messages.h"
#include "walpost/relay/token.h"

namespace walpost::relay {

/// What the tracker knows of the transaction a token belongs to.
struct TransactionPosition {
  pgoutput::Lsn commit_lsn;
  pgoutput::Timestamp committed_at;
};

/// Decides what may be confirmed (rules R1 and R2): the end LSN of the longest prefix of received
/// transactions of which every record was delivered. A keepalive is a transaction without records
/// in the same queue. The open transaction is in the queue too, so nothing can be confirmed past
/// it.
///
/// Pure; one thread; every operation O(1) amortised; allocates only to grow. Calls out of order
/// throw std::logic_error: a wrong confirmation loses events, a crash does not.
class AckTracker {
 public:
  /// Transactions are numbered from `first_number` on, modulo Token::transaction_modulus.
  explicit AckTracker(std::uint32_t first_number = 0);

  /// A new stream that starts at `start`: everything before it is confirmed already.
  void reset(pgoutput::Lsn start);

  /// A transaction begins whose commit record starts at `commit_lsn`.
  void begin(pgoutput::Lsn commit_lsn, pgoutput::Timestamp committed_at);
  /// One more record of the open transaction is on its way.
  Token add_record(std::uint8_t table);
  /// The open transaction is complete; the byte after its commit record is `end_lsn`.
  void commit(pgoutput::Lsn end_lsn);
  /// The server has sent everything before `wal_end`.
  void keepalive(pgoutput::Lsn wal_end);
  /// The brokers acknowledged a record. Reports may come in any order.
  void delivered(Token token);

  [[nodiscard]] bool in_transaction() const;
  /// Records published of the open transaction; 0 outside one.
  [[nodiscard]] std::uint32_t open_records() const;
  [[nodiscard]] pgoutput::Lsn open_commit_lsn() const;
  /// The highest position received on this stream.
  [[nodiscard]] pgoutput::Lsn received() const { return received_; }
  /// What may be sent as the flush position. Monotonic between resets.
  [[nodiscard]] pgoutput::Lsn confirmable() const { return confirmable_; }
  /// What will be confirmable once every record added so far is delivered.
  [[nodiscard]] pgoutput::Lsn sealed() const;
  /// No transaction is open and every record was delivered.
  [[nodiscard]] bool idle() const { return size_ == 0; }
  [[nodiscard]] std::size_t outstanding_records() const { return outstanding_; }
  /// Nothing for a token of no transaction in the queue.
  [[nodiscard]] std::optional<TransactionPosition> find(Token token) const;

 private:
  struct Transaction {
    pgoutput::Lsn commit_lsn;
    pgoutput::Lsn end_lsn;
    pgoutput::Timestamp committed_at;
    std::uint32_t published = 0;
    std::uint32_t outstanding = 0;
    bool sealed = false;
  };

  Transaction& at(std::size_t index) { return ring_[(head_ + index) & (ring_.size() - 1)]; }
  [[nodiscard]] const Transaction& at(std::size_t index) const {
    return ring_[(head_ + index) & (ring_.size() - 1)];
  }
  [[nodiscard]] std::optional<std::size_t> index_of(Token token) const;
  void grow();
  void pass(pgoutput::Lsn position);
  void advance();

  // A ring instead of std::deque: in steady state a deque frees and allocates a block every few
  // transactions.
  std::vector<Transaction> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::uint32_t front_number_ = 0;  ///< the transaction number of the front
  std::size_t outstanding_ = 0;
  pgoutput::Lsn received_;
  pgoutput::Lsn confirmable_;
};

}  // namespace walpost::relay
