#include "topic_directory.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "delivery_errors.h"
#include "position_record.h"

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds admin_timeout{5000};
constexpr milliseconds missing_retry{200};
constexpr milliseconds passing_retry{200};
constexpr milliseconds unreachable_retry{500};
// Nothing announces that a producer has met its first broker.
constexpr milliseconds unmet_retry{20};
constexpr milliseconds unusable_retry{1000};
// One code for a factor beyond the cluster's size and for brokers that the controller has given up
// for the moment ("All brokers are currently fenced").
constexpr auto too_few_brokers = RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR;
// After this many unanswered questions for limits, while metadata is answered, go on without them.
constexpr int limit_attempts = 3;

// All of it is read at every start: small segments, or compaction, which leaves the newest one
// alone, would begin after days.
NewTopic new_positions_topic() {
  return {std::string(positions_topic),
          1,
          -1,
          {{"cleanup.policy", "compact"}, {"segment.bytes", "8388608"}}};
}

}  // namespace

TopicDirectory::TopicDirectory(std::optional<TopicCreation> creation, bool missing_is_poison,
                               const relay::Clock& clock)
    : creation_(creation), missing_is_poison_(missing_is_poison), clock_(clock) {}

void TopicDirectory::start(const Producer& producer) {
  producer_ = &producer;
  for (auto& [name, topic] : topics_) reset(*topic);
}

void TopicDirectory::stop() noexcept {
  for (auto& [name, topic] : topics_) topic->handle.reset();
  pending_.clear();
  refused_creation_.reset();
  producer_ = nullptr;
}

void TopicDirectory::reset(Topic& topic) {
  topic.handle = producer_->topic(topic.name, &topic);
  topic.stage = Topic::Stage::unknown;
  topic.not_before = {};
  topic.missing_since.reset();
  topic.too_few_brokers_since.reset();
  topic.limit_failures = 0;
  topic.creation_asked = false;
  topic.facts = {};
  topic.facts.name = topic.name;
  pending_.push_back(&topic);
}

Topic& TopicDirectory::get(std::string_view name) {
  if (last_ != nullptr && last_->name == name) return *last_;
  last_ = &find_or_add(name, Topic::Role::events);
  return *last_;
}

Topic& TopicDirectory::positions() {
  if (positions_ == nullptr) positions_ = &find_or_add(positions_topic, Topic::Role::positions);
  return *positions_;
}

Topic& TopicDirectory::find_or_add(std::string_view name, Topic::Role role) {
  auto found = topics_.find(name);
  if (found == topics_.end()) {
    auto topic = std::make_unique<Topic>();
    topic->name = name;
    topic->role = role;
    reset(*topic);
    found = topics_.emplace(topic->name, std::move(topic)).first;
  }
  if (found->second->role != role) {
    throw relay::SessionFailure(
        relay::FailureKind::refused, relay::Side::kafka,
        "an event is routed to topic " + std::string(name) + ", in which walpost keeps positions",
        "name another topic in route.topic or route.topics");
  }
  return *found->second;
}

std::optional<NewTopic> TopicDirectory::creation_of(const Topic& topic) const {
  if (topic.role == Topic::Role::positions) return new_positions_topic();
  if (!creation_) return std::nullopt;
  return NewTopic{topic.name, creation_->partitions, creation_->replication_factor, {}};
}

bool TopicDirectory::take_limits(const LimitsAnswer& answer) {
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    spdlog::debug("limits of topics can't be read: {}", answer.reason);
    for (auto* topic : pending_) {
      if (topic->stage != Topic::Stage::asked) continue;
      topic->stage = Topic::Stage::described;
      if (is_passing(answer.error)) limits_unanswered(*topic);
    }
    return !is_unreachable(answer.error);
  }
  for (const auto& each : answer.topics) {
    const auto known = topics_.find(each.name);
    if (known == topics_.end() || known->second->stage != Topic::Stage::asked) continue;
    Topic& topic = *known->second;
    topic.stage = Topic::Stage::described;
    topic.facts.limits = each.limits;
    // A topic just created may be known to one broker and not to the next.
    if (each.error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || is_passing(each.error)) {
      limits_unanswered(topic);
    }
    if (each.error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED && !topic.limits_unreadable) {
      topic.limits_unreadable = true;
      spdlog::warn(
          "limits of topic {} can't be read, going on without: {}; grant DescribeConfigs on the "
          "topic",
          topic.name, each.reason);
    }
  }
  return true;
}

void TopicDirectory::limits_unanswered(Topic& topic) {
  if (++topic.limit_failures < limit_attempts) again(topic, passing_retry);
}

bool TopicDirectory::take_creation(const CreationAnswer& answer) {
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::creating) continue;
    if (!answer.topic.empty() && answer.topic != topic->name) continue;
    if (answer.error != too_few_brokers) topic->too_few_brokers_since.reset();
    switch (answer.error) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        spdlog::info("created topic {}, {} partitions", topic->name,
                     creation_of(*topic)->partitions);
        again(*topic, milliseconds{0});
        break;
      case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
        again(*topic, milliseconds{0});
        break;
      case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        refused_creation_ = forbidden_creation(topic->facts, answer.reason);
        break;
      default:
        if (is_passing(answer.error) || may_be_brokers_away(*topic, answer)) {
          topic->creation_asked = false;
          again(*topic, unreachable_retry);
        } else {
          refused_creation_ = failed_creation(topic->facts, answer.reason);
        }
    }
  }
  return !is_unreachable(answer.error);
}

bool TopicDirectory::may_be_brokers_away(Topic& topic, const CreationAnswer& answer) const {
  if (answer.error != too_few_brokers) return false;
  const auto now = clock_.now();
  if (!topic.too_few_brokers_since) {
    topic.too_few_brokers_since = now;
    spdlog::warn("topic {} can't be created yet, trying again for {} s: {}", topic.name,
                 brokers_grace.count(), answer.reason);
  }
  return now - *topic.too_few_brokers_since < brokers_grace;
}

TopicDirectory::Progress TopicDirectory::advance() {
  Progress progress;
  if (refused_creation_) throw refusal(*refused_creation_);
  if (pending_.empty()) return progress;
  inspect_due(progress);
  if (refused_creation_) throw refusal(*refused_creation_);
  ask_for_limits();
  progress.unusable = std::erase_if(pending_, [](const Topic* topic) {
                        return topic->stage == Topic::Stage::unusable;
                      }) > 0;
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::described) continue;
    topic->stage = Topic::Stage::ready;
    progress.ready.push_back(topic);
  }
  std::erase_if(pending_, [](const Topic* topic) { return topic->stage == Topic::Stage::ready; });
  return progress;
}

void TopicDirectory::inspect_due(Progress& progress) {
  const auto start = clock_.now();
  const bool met = has_met_cluster(*producer_);
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::unknown || topic->not_before > start) continue;
    if (!met) {
      again(*topic, unmet_retry);
      continue;
    }
    const auto spent = std::chrono::duration_cast<milliseconds>(clock_.now() - start);
    if (spent >= metadata_budget) return;
    inspect(*topic, metadata_budget - spent, progress);
  }
}

void TopicDirectory::ask_for_limits() {
  std::vector<std::string> names;
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::found) continue;
    topic->stage = Topic::Stage::asked;
    names.push_back(topic->name);
  }
  if (!names.empty()) ask_limits(*producer_, broker_id_, names, admin_timeout);
}

void TopicDirectory::inspect(Topic& topic, milliseconds timeout, Progress& progress) {
  const auto answer = ask_metadata(producer_->client(), topic.handle.get(), timeout);
  using Kind = MetadataAnswer::Kind;
  progress.contact = progress.contact || answer.kind != Kind::unreachable;
  topic.facts.broker = answer.broker;
  topic.facts.brokers = answer.brokers;
  if (answer.broker_id >= 0) broker_id_ = answer.broker_id;
  switch (answer.kind) {
    case Kind::found:
      return found(topic, answer);
    case Kind::missing:
      return missing(topic);
    case Kind::unauthorized:
      throw refusal(forbidden_topic(topic.facts, answer.reason));
    case Kind::invalid:
      return unusable(topic, invalid_topic(topic.facts, answer.reason));
    case Kind::passing:
      return again(topic, passing_retry);
    case Kind::unreachable:
      topic.missing_since.reset();
      topic.too_few_brokers_since.reset();
      return again(topic, unreachable_retry);
  }
}

void TopicDirectory::found(Topic& topic, const MetadataAnswer& answer) {
  topic.facts.partitions = answer.partitions;
  topic.facts.replication_factor = answer.replication_factor;
  if (topic.expected_partitions != 0 && topic.expected_partitions != answer.partitions) {
    spdlog::warn(
        "topic {} has {} partitions instead of {}: its keys are spread anew from here on, and the "
        "order of a key's events across the change isn't kept",
        topic.name, answer.partitions, topic.expected_partitions);
  }
  topic.expected_partitions = answer.partitions;
  topic.was_missing = false;
  topic.too_few_brokers_since.reset();
  topic.stage = Topic::Stage::found;
}

void TopicDirectory::missing(Topic& topic) {
  topic.limit_failures = 0;
  const auto creation = creation_of(topic);
  if (creation && !topic.creation_asked) {
    topic.creation_asked = true;
    topic.stage = Topic::Stage::creating;
    if (const auto answer = ask_creation(*producer_, *creation, admin_timeout)) {
      take_creation(*answer);
    }
    return;
  }
  const auto now = clock_.now();
  auto grace = topic.expected_partitions == 0 ? missing_grace : lost_grace;
  if (topic.was_missing && missing_is_poison_) grace = std::chrono::seconds{0};
  if (!topic.missing_since) {
    topic.missing_since = now;
    if (grace.count() > 0)
      spdlog::warn("topic {} does not exist; asking again for {} s", topic.name, grace.count());
  }
  if (now - *topic.missing_since >= grace) return unusable(topic, missing_topic(topic.facts));
  again(topic, missing_retry);
}

void TopicDirectory::unusable(Topic& topic, const relay::Finding& finding) {
  const bool is_an_events_choice = topic.role == Topic::Role::events && !topic.configured;
  if (!missing_is_poison_ || !is_an_events_choice) throw refusal(finding);
  topic.was_missing = true;
  topic.stage = Topic::Stage::unusable;
  topic.unusable = finding.what;
  topic.not_before = clock_.now() + unusable_retry;
}

bool TopicDirectory::asks_again(Topic& topic) {
  if (clock_.now() < topic.not_before) return false;
  topic.missing_since.reset();
  topic.creation_asked = false;
  topic.stage = Topic::Stage::unknown;
  topic.not_before = {};
  pending_.push_back(&topic);
  return true;
}

void TopicDirectory::again(Topic& topic, milliseconds delay) {
  topic.stage = Topic::Stage::unknown;
  topic.not_before = clock_.now() + delay;
}

std::optional<relay::Instant> TopicDirectory::next_due() const {
  std::optional<relay::Instant> due;
  for (const auto* topic : pending_) {
    if (topic->stage != Topic::Stage::unknown) continue;
    if (!due || topic->not_before < *due) due = topic->not_before;
  }
  return due;
}

}  // namespace walpost::kafka
