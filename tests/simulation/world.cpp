#include "simulation/world.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace walpost::simulation {

FaultRates FaultRates::draw(std::mt19937_64& random) {
  const auto rate = [&random](double highest) {
    std::uniform_real_distribution<double> unit(0, 1);
    // Half of all seeds don't have the fault at all: combinations are what finds mistakes.
    return unit(random) < 0.5 ? 0.0 : highest * unit(random);
  };
  FaultRates rates;
  rates.connection_lost = rate(0.01);
  rates.server_crash = rate(0.005);
  rates.server_shutdown = rate(0.005);
  rates.slot_still_active = rate(0.5);
  rates.status_lost = rate(0.8);
  rates.broker_stall = rate(0.02);
  rates.acknowledgement_lost = rate(0.3);
  rates.producer_fatal = rate(0.02);
  rates.batch_retryable = rate(0.02);
  rates.queue_full = rate(0.3);
  rates.poison_row = rate(0.01);
  rates.refused_row = rate(0.02);
  rates.rejected_row = rate(0.02);
  rates.letter_lost = rate(0.3);
  rates.retry = rate(0.1);
  rates.slot_moved = rate(0.02);
  rates.stop_request = rate(0.01);
  rates.kill = rate(0.01);
  return rates;
}

World::World(std::uint64_t seed, bool tracing)
    : random(seed),
      faults(FaultRates::draw(random)),
      keys(1 + static_cast<int>(below(6))),
      partitions(1 + static_cast<int>(below(3))),
      transactions_wanted(5 + below(40)),
      keeps_position(chance(0.3)),
      on_poison(chance(0.5)   ? relay::OnPoison::stop
                : chance(0.5) ? relay::OnPoison::dead_letter
                              : relay::OnPoison::park),
      log(static_cast<std::size_t>(partitions)),
      newest_of_key_(static_cast<std::size_t>(keys), 0),
      tracing_(tracing) {}

// One transaction, or WAL of other tables only. LSNs are close together: the end of one transaction
// is often the start of the next one's commit record.
void World::commit_something() {
  if (chance(0.3)) {
    wal_end.value += 8 + below(100);
    return;
  }
  if (transactions.size() >= transactions_wanted) return;
  Transaction transaction;
  transaction.commit = Lsn{wal_end.value + below(3) * 16};
  transaction.end = Lsn{transaction.commit.value + 16};
  transaction.first_row = rows.size();
  transaction.rows = chance(0.1) ? 0 : 1 + below(chance(0.1) ? 40 : 4);
  for (std::size_t i = 0; i < transaction.rows; ++i) {
    Row row;
    row.key = static_cast<int>(below(static_cast<std::size_t>(keys)));
    row.poison = fault(faults.poison_row);
    row.refused = fault(faults.refused_row);
    row.rejected = fault(faults.rejected_row);
    rows.push_back(row);
  }
  wal_end = transaction.end;
  transactions.push_back(transaction);
}

void World::append(RowNumber number) {
  Row& row = rows[number];
  log[static_cast<std::size_t>(partition_of(row.key))].push_back(number);
  row.producer = producer;
  if (row.letter != Row::Letter::none)
    violate(fmt::format("row {} is published although it was set aside", number));
  if (row.appended++ > 0) {
    ++duplicates;
    return;
  }
  check_order(number);
}

void World::append_letter(RowNumber number) {
  Row& row = rows[number];
  log[static_cast<std::size_t>(partition_of(row.key))].push_back(number);
  row.producer = 0;
  const bool in_order = row.letter == Row::Letter::parked;
  row.letter = Row::Letter::published;
  // Where the operator once skipped an event of the key and a crash brought it back, the key may be
  // parked with it although later ones are visible.
  const bool was_skipped =
      std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                  [&](const Row& one) { return one.key == row.key && one.skipped; });
  const bool visible = row.appended++ > 0;
  if (visible && !was_skipped)
    violate(fmt::format("row {} was set aside although visible", number));
  if (in_order && !visible) check_order(number);
}

void World::check_order(RowNumber number) {
  Row& row = rows[number];
  // The operator published it by other means and moved the slot past it. A crash may take the slot
  // back over it (pg_replication_slot_advance is durable only with the next checkpoint); its place
  // in the order was given up.
  if (row.skipped) return;
  RowNumber& newest = newest_of_key_[static_cast<std::size_t>(row.key)];
  if (number + 1 < newest)
    violate(
        fmt::format("row {} of key {} became visible after row {}", number, row.key, newest - 1));
  // Rows of the same key in between must be visible already, or the failed one was overtaken.
  for (RowNumber between = newest; between < number; ++between)
    if (rows[between].key == row.key && rows[between].appended == 0 && !rows[between].skipped &&
        rows[between].letter != Row::Letter::dead)
      violate(
          fmt::format("row {} of key {} became visible before row {}", number, row.key, between));
  newest = std::max(newest, number + 1);
}

void World::check_flush(Lsn flush, Lsn former_flush, Lsn received) {
  if (flush < former_flush)
    violate("flush went back from " + former_flush.to_string() + " to " + flush.to_string());
  if (flush > received)
    violate("flush " + flush.to_string() + " passes what was received, " + received.to_string());
  for (; proven_ < transactions.size() && transactions[proven_].commit < flush; ++proven_) {
    const Transaction& transaction = transactions[proven_];
    for (RowNumber row = transaction.first_row; row < transaction.first_row + transaction.rows;
         ++row)
      if (rows[row].appended == 0 && !rows[row].skipped && rows[row].letter == Row::Letter::none) {
        violate(fmt::format("flush {} confirms row {} of commit {}, which is not visible",
                            flush.to_string(), row, transaction.commit.to_string()));
        return;
      }
  }
}

void World::check_end(Lsn slot_confirmed) {
  for (RowNumber row = 0; row < rows.size(); ++row)
    if (rows[row].appended == 0 && !rows[row].skipped && rows[row].letter != Row::Letter::dead)
      violate(fmt::format("row {} was lost", row));
  if (!transactions.empty() && slot_confirmed < transactions.back().end)
    violate("the slot rests at " + slot_confirmed.to_string() + " before the last commit's end " +
            transactions.back().end.to_string());
}

void World::check_clean_stop(Lsn slot_confirmed) {
  for (const Transaction& transaction : transactions) {
    if (transaction.commit < slot_confirmed) continue;
    for (RowNumber row = transaction.first_row; row < transaction.first_row + transaction.rows;
         ++row)
      if (rows[row].appended > 0 && rows[row].producer == producer &&
          rows[row].letter == Row::Letter::none) {
        violate(fmt::format("after a clean stop at {} row {} of commit {} is visible already",
                            slot_confirmed.to_string(), row, transaction.commit.to_string()));
        return;
      }
  }
}

void World::violate(const std::string& what) {
  violations_.push_back(what);
  trace("VIOLATION: " + what);
}

void World::trace(const std::string& what) {
  if (!tracing_) return;
  const auto passed = std::chrono::duration_cast<microseconds>(now.time_since_epoch());
  story_.push_back(fmt::format("{:>12.3f} ms  {}",
                               static_cast<double>(passed.count() - 3600000000) / 1000, what));
}

}  // namespace walpost::simulation
