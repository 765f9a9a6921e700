#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walpost/outbox/event.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/dead_letter_store.h"

namespace walpost::relay {

/// What becomes of an event that can't be published.
enum class OnPoison {
  stop,         ///< walpost ends with exit code 4
  dead_letter,  ///< it is kept aside and everything else goes on
  park,  ///< it is kept aside, later events of its key wait behind it, every other key goes on
};

[[nodiscard]] std::string_view name(OnPoison action);

struct PoisonOptions {
  OnPoison action = OnPoison::stop;
  std::size_t max_dead_letters = 1000;  ///< an hour; past it walpost stops. > 0
  std::string dead_letter_topic;        ///< of dead_letter; empty: table walpost.dead_letter
  [[nodiscard]] bool keeps_table() const {
    return action != OnPoison::stop && dead_letter_topic.empty();
  }
};

/// Remembers which events are to be treated apart, over the sessions of a process. An event is
/// known by its position, which every re-delivery repeats. One thread.
class PoisonPolicy {
 public:
  /// `store` may be null where no table is used: on stop, and with a topic. All must outlive this.
  PoisonPolicy(const PoisonOptions& options, DeadLetterStore* store, const Clock& clock);

  [[nodiscard]] const PoisonOptions& options() const { return options_; }
  [[nodiscard]] DeadLetterStore& store() const { return *store_; }

  /// A new stream: learns what is kept of it.
  void begin_stream(const StreamStart& start);

  /// Nothing is to be treated apart: the answer to every question below is no.
  [[nodiscard]] bool is_quiet() const {
    return kept_.empty() && condemned_.empty() && suspects_.empty() && parked_.empty();
  }
  /// The stream has come to an event of this transaction. What was known of transactions before it
  /// is of no use any more: each was dealt with, or the stream would not have come so far.
  void reach(pgoutput::Lsn commit_lsn);
  /// Its letter was kept by an earlier session.
  [[nodiscard]] bool is_kept(const outbox::Position& position) const;
  /// Why the brokers refused it for good, if they did.
  [[nodiscard]] std::optional<std::string> why_condemned(const outbox::Position& position) const;
  /// It was in a batch that was refused for one of its records: it has to be sent alone.
  [[nodiscard]] bool is_suspect(const outbox::Position& position) const;
  /// The event has to wait behind a letter of its key. What stands before that letter was published
  /// before the key was parked, and is merely repeated.
  [[nodiscard]] bool is_parked(std::string_view key, const outbox::Position& position) const;
  /// Whether another letter is within the bound.
  [[nodiscard]] bool may_keep_another();

  void condemn(const outbox::Position& position, const std::string& why);
  void suspect(const outbox::Position& position);
  /// A suspect was acknowledged after all.
  void acquit(const outbox::Position& position);
  /// Its letter is durable, or on its way to a topic: nothing more is to be known of it.
  void kept(const outbox::Position& position);
  void parked(std::string_view key, const outbox::Position& since);
  void released(std::string_view key);

 private:
  struct Place {
    std::uint64_t commit_lsn;
    std::uint32_t ordinal;
    std::int64_t committed_at;  ///< tells two timelines apart
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its zero for a pointer
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>{}(key);
    }
  };
  static Place place_of(const outbox::Position& position);

  const PoisonOptions options_;
  DeadLetterStore* store_;
  const Clock& clock_;
  std::set<Place> kept_;
  std::map<Place, std::string> condemned_;
  std::set<Place> suspects_;
  std::unordered_map<std::string, Place, Hash, std::equal_to<>> parked_;  ///< since when
  std::deque<Instant> recent_;  ///< when the letters of the last hour were kept
};

}  // namespace walpost::relay
