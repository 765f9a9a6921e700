#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/walpost_process.h"

namespace walpost::test {

/// What a topic holds, compared with what was committed. The order comes from PostgreSQL's own
/// test_decoding plugin on a slot as old as walpost's, keys and payloads from the table.
struct Comparison {
  std::size_t committed = 0;     ///< outbox rows that test_decoding reports
  std::size_t published = 0;     ///< records in the topic
  std::size_t lost = 0;          ///< committed, in no record
  std::size_t foreign = 0;       ///< records of no committed row
  std::size_t duplicates = 0;    ///< records beyond the first of their row
  std::size_t out_of_order = 0;  ///< first appearances behind a later one of the same partition
  /// Records that neither follow their predecessor in the partition's commit order nor step back to
  /// begin a repeat: a repeat that isn't contiguous, or a gap.
  std::size_t broken_repeats = 0;
  std::size_t repeats = 0;          ///< steps back
  std::size_t wrong_bytes = 0;      ///< key is not aggregate_id, or value is not payload
  std::size_t wrong_partition = 0;  ///< not where murmur2 of the key puts it

  /// Nothing lost, foreign, misplaced or out of order; duplicates only as contiguous repeats.
  [[nodiscard]] bool at_least_once() const;
  [[nodiscard]] bool exactly_once() const { return at_least_once() && duplicates == 0; }
};
std::ostream& operator<<(std::ostream& out, const Comparison& comparison);

/// A committed outbox row, as test_decoding reports it.
struct CommittedEvent {
  std::string id;
  std::string key;
};

struct WorldOptions {
  PostgresOptions postgres = {};
  int partitions = 6;
  std::map<std::string, std::string> topic_configs = {};
  std::vector<std::string> init = {};  ///< further arguments of `walpost init`
  std::string preset_sql = {};  ///< instead of `walpost init --create-outbox`: the table's own DDL
};

/// An outbox table in a PostgreSQL of its own, a topic of its own, walpost's publication and slot
/// made by `walpost init`, and a test_decoding slot made at the same moment.
class OutboxWorld {
 public:
  explicit OutboxWorld(KafkaBroker& broker, WorldOptions options = {});

  PostgresServer server;
  const std::string topic;

  /// Arguments for a walpost of this world; every event goes to `topic`.
  [[nodiscard]] WalpostOptions arguments(std::vector<std::string> set = {}) const;
  [[nodiscard]] Walpost start(std::vector<std::string> set = {}) const;

  /// Runs shared/bench's concurrent writers: `clients` sessions, about `transactions` each; commit
  /// order differs from id order, some roll back. Returns when all have ended.
  void write_concurrently(int clients, int transactions);
  /// The same, in the background.
  [[nodiscard]] std::unique_ptr<Process> start_writers(int clients, int seconds);
  /// `count` one-row transactions by one session, quickly.
  void write(int count);

  /// In commit order. Its table keeps every row.
  [[nodiscard]] std::vector<CommittedEvent> committed_events();
  [[nodiscard]] std::string confirmed_flush_lsn();
  /// Waits until walpost's slot has confirmed all WAL written up to now; false at the deadline.
  [[nodiscard]] bool wait_until_confirmed(Deadline deadline = Deadline::in(milliseconds(60000)));
  [[nodiscard]] Comparison compare(Deadline deadline = Deadline::in(milliseconds(120000)));

 private:
  KafkaBroker& broker_;
  TempDir scripts_;
};

}  // namespace walpost::test
