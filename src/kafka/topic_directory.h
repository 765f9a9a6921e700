#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster_queries.h"
#include "librdkafka.h"
#include "producer.h"
#include "slow_start.h"
#include "topic_facts.h"
#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"

namespace walpost::kafka {

/// A topic in use. Its address stays the same for as long as the directory lives.
struct Topic {
  enum class Stage {
    unknown,    ///< its metadata is to be asked for
    creating,   ///< waiting for its creation
    found,      ///< its limits are to be asked for
    asked,      ///< waiting for them
    described,  ///< all is known
    ready,      ///< and was told to the caller
    unusable,   ///< no record can be sent to it
  };
  /// What it is for: events, as the router says, or walpost's own positions.
  enum class Role { events, positions };
  std::string name;
  Role role = Role::events;
  TopicFacts facts;
  bool judged = false;             ///< warnings about it were logged
  bool limits_unreadable = false;  ///< the warning about that was logged
  int expected_partitions = 0;     ///< as first seen by this process; 0: never
  /// The producer (counted from 1) that was refused a record although it fits; 0: none yet.
  unsigned size_doubted_by = 0;
  bool configured = false;  ///< named by the configuration, not by an event
  bool was_missing = false;

  // What follows belongs to one producer and starts anew with the next.
  TopicHandle handle;
  Stage stage = Stage::unknown;
  Lane first_lane{};
  relay::Instant not_before{};
  std::optional<relay::Instant> missing_since;
  std::optional<relay::Instant> too_few_brokers_since;  ///< to create it
  int limit_failures = 0;
  bool creation_asked = false;
  std::string unusable;  ///< why it is

  /// Not asked for by this producer yet.
  [[nodiscard]] bool is_new() const {
    return stage == Stage::unknown && not_before == relay::Instant{};
  }
};

/// The topics in use and what is known of them: checks each one before its first record. One
/// thread.
class TopicDirectory {
 public:
  /// A topic may be unknown to some brokers this long after it was created.
  static constexpr std::chrono::seconds missing_grace{5};
  /// A topic that was there before: a broker that has just started may not know it yet.
  static constexpr std::chrono::seconds lost_grace{30};
  /// The controller counts out a broker that stopped answering, until its next heartbeats: for as
  /// long a topic may be impossible to create.
  static constexpr std::chrono::seconds brokers_grace{10};
  /// How long one advance() may block.
  static constexpr std::chrono::milliseconds metadata_budget{200};

  /// `clock` must outlive this.
  /// `missing_is_poison`: as in Options.
  TopicDirectory(std::optional<TopicCreation> creation, bool missing_is_poison,
                 const relay::Clock& clock);

  /// Every topic is to be checked again, with this producer, which must stay alive until stop().
  void start(const Producer& producer);
  void stop() noexcept;

  /// The topic, known from here on. Allocates only for a new one. REQUIRES: started. Throws
  /// relay::SessionFailure for a name that can't be a topic.
  Topic& get(std::string_view name);
  /// The topic of positions, which is created where it is missing whatever `creation` says.
  Topic& positions();
  /// The same, or null if nobody has asked for it.
  [[nodiscard]] const Topic* known_positions() const { return positions_; }

  /// Takes the answer to a question asked by advance(). Returns whether a broker answered at all.
  bool take_limits(const LimitsAnswer& answer);
  bool take_creation(const CreationAnswer& answer);

  /// An unusable topic is asked for again now and then. False: not now.
  [[nodiscard]] bool asks_again(Topic& topic);

  struct Progress {
    std::vector<Topic*> ready;  ///< those that became ready; their facts are known
    bool unusable = false;      ///< one is
    bool contact = false;       ///< a broker answered
  };
  /// Asks what is due. Blocks for at most `metadata_budget`, and only where a broker was reachable
  /// a moment ago or an asynchronous question timed out. Throws relay::SessionFailure(refused) for
  /// a topic that is missing or can't be used.
  Progress advance();

  /// When advance() has something to do, whatever arrives until then.
  [[nodiscard]] std::optional<relay::Instant> next_due() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };

  Topic& find_or_add(std::string_view name, Topic::Role role);
  [[nodiscard]] std::optional<NewTopic> creation_of(const Topic& topic) const;
  void reset(Topic& topic);
  void inspect_due(Progress& progress);
  void inspect(Topic& topic, std::chrono::milliseconds timeout, Progress& progress);
  void found(Topic& topic, const MetadataAnswer& answer);
  void ask_for_limits();
  void limits_unanswered(Topic& topic);
  [[nodiscard]] bool may_be_brokers_away(Topic& topic, const CreationAnswer& answer) const;
  void missing(Topic& topic);
  void unusable(Topic& topic, const relay::Finding& finding);
  void again(Topic& topic, std::chrono::milliseconds delay);

  std::optional<TopicCreation> creation_;
  bool missing_is_poison_;
  const relay::Clock& clock_;
  const Producer* producer_ = nullptr;
  std::unordered_map<std::string, std::unique_ptr<Topic>, Hash, std::equal_to<>> topics_;
  std::vector<Topic*> pending_;  // those not ready
  int broker_id_ = -1;           // one that answered lately
  Topic* positions_ = nullptr;
  Topic* last_ = nullptr;  // of the latest get(): most records go where the one before went
  std::optional<relay::Finding> refused_creation_;
};

}  // namespace walpost::kafka
