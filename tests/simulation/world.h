#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "pgoutput/lsn.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/poison_policy.h"

/// A deterministic world around the real relay: a model of PostgreSQL, a model of librdkafka and
/// its brokers, a clock, and the oracle that knows what was committed, what is visible, and what
/// was confirmed. Everything that happens follows from one seed.
namespace walpost::simulation {

using pgoutput::Lsn;
using relay::Instant;
using relay::microseconds;
using relay::milliseconds;

/// A row is known by its number in commit order, which is what its message id says.
using RowNumber = std::size_t;

struct Row {
  enum class Letter { none, dead, parked, published };
  int key = 0;
  bool poison = false;    ///< SQL NULL where the key should be
  bool refused = false;   ///< too large: not even taken by the producer
  bool rejected = false;  ///< the brokers refuse it for good
  Letter letter = Letter::none;
  bool skipped = false;  ///< the operator moved the slot past its transaction
  int appended = 0;      ///< how often it is in the log
  int producer = 0;      ///< which producer appended it last
};

struct Transaction {
  Lsn commit;
  Lsn end;
  RowNumber first_row = 0;
  std::size_t rows = 0;
};

/// How likely each fault is, drawn once for a seed so that seeds differ in kind, not only in
/// detail.
struct FaultRates {
  double connection_lost = 0;
  double server_crash = 0;
  double server_shutdown = 0;
  double slot_still_active = 0;
  double status_lost = 0;
  double broker_stall = 0;
  double acknowledgement_lost = 0;
  double producer_fatal = 0;
  double batch_retryable = 0;
  double queue_full = 0;
  double poison_row = 0;
  double refused_row = 0;
  double rejected_row = 0;
  double letter_lost = 0;
  double retry = 0;
  double slot_moved = 0;
  double stop_request = 0;
  double kill = 0;
  static FaultRates draw(std::mt19937_64& random);
};

/// The process was killed: unwinds the relay as nothing in the product could.
struct Killed {};

class World {
 public:
  World(std::uint64_t seed, bool tracing);

  std::mt19937_64 random;
  FaultRates faults;
  Instant now{std::chrono::hours(1)};
  int keys;
  int partitions;

  // What was committed.
  std::vector<Transaction> transactions;
  std::vector<Row> rows;
  Lsn wal_end{0x1000};
  std::size_t transactions_wanted;
  bool keeps_position;  ///< in a file, which outlives the process
  relay::OnPoison on_poison;
  bool calm = false;  ///< no more faults: everything must come to rest

  int producer = 0;  ///< how many there were; what a former one left visible may be repeated

  // What is visible, per partition, in order.
  std::vector<std::vector<RowNumber>> log;

  [[nodiscard]] bool chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random) < probability;
  }
  [[nodiscard]] bool fault(double probability) { return !calm && chance(probability); }
  [[nodiscard]] std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

  [[nodiscard]] int partition_of(int key) const { return key % partitions; }
  void commit_something();
  void append(RowNumber row);
  /// By the operator, from its letter.
  void append_letter(RowNumber row);

  /// R1 and R3, at the moment a status update is sent.
  void check_flush(Lsn flush, Lsn former_flush, Lsn received);
  /// The promise, at the end.
  void check_end(Lsn slot_confirmed);
  /// Nothing that the last producer made visible may be sent again after a clean stop.
  void check_clean_stop(Lsn slot_confirmed);

  void violate(const std::string& what);
  void trace(const std::string& what);
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const std::vector<std::string>& story() const { return story_; }
  [[nodiscard]] bool tracing() const { return tracing_; }

  std::size_t duplicates = 0;
  std::size_t fault_count = 0;

 private:
  void check_order(RowNumber row);

  std::vector<RowNumber> newest_of_key_;  ///< 1 + the newest row of a key that became visible
  std::size_t proven_ = 0;                ///< transactions known to be visible in full
  bool tracing_;
  std::vector<std::string> violations_;
  std::vector<std::string> story_;
};

}  // namespace walpost::simulation
