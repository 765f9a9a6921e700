#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pgoutput/lsn.h"
#include "walpost/postgres/options.h"
#include "walpost/relay/clock.h"

namespace walpost::postgres {

/// A row of walpost.dead_letter.
struct KeptLetter {
  using Headers = std::vector<std::pair<std::string, std::optional<std::string>>>;
  std::int64_t id = 0;
  std::string state;  ///< dead, parked, published or discarded
  std::optional<std::string> event_id;
  std::string table;
  pgoutput::Lsn commit_lsn;
  std::int64_t ordinal = 0;
  std::optional<std::string> topic;
  std::optional<std::string> key;
  std::optional<std::string> value;
  Headers headers;
  std::optional<std::string> row_headers;
  std::string reason;
  std::int64_t attempts = 0;
  std::string first_failure;  ///< PostgreSQL's text, UTC
  std::string last_failure;
};

/// The operator's side of walpost.dead_letter: one slot's letters. One thread; every function may
/// throw relay::SessionFailure.
class DeadLetterQueue {
 public:
  /// Connects. `clock` must outlive this.
  DeadLetterQueue(const Options& options, relay::Clock& clock);
  ~DeadLetterQueue();
  DeadLetterQueue(const DeadLetterQueue&) = delete;
  DeadLetterQueue& operator=(const DeadLetterQueue&) = delete;

  /// In the order of the stream, without values. Not `all`: only what is dead or parked.
  [[nodiscard]] std::vector<KeptLetter> list(bool all);
  [[nodiscard]] std::optional<KeptLetter> find(std::int64_t id);
  /// The key's first letters that are dead or parked, in the order of the stream: some hundreds, or
  /// as many as fit 16 MiB, at least one.
  [[nodiscard]] std::vector<KeptLetter> next_of(const std::string& key);

  /// Throws refused when another process is retrying letters of this slot. Held until destruction.
  void lock_retries();
  void published(const std::vector<std::int64_t>& ids);
  void failed_again(std::int64_t id, const std::string& reason);
  void discard(std::int64_t id);
  /// The key's later events flow again, unless a letter of it is still parked. Returns whether it
  /// was released.
  [[nodiscard]] bool release(const std::string& key);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace walpost::postgres
