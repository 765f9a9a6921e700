#include "topic_directory.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "delivery_errors.h"

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds admin_timeout{5000};
constexpr milliseconds missing_retry{200};
constexpr milliseconds passing_retry{200};
constexpr milliseconds unreachable_retry{500};
// After this many unanswered questions for limits, while metadata is answered, go on without them.
constexpr int limit_attempts = 3;

}  // namespace

TopicDirectory::TopicDirectory(std::optional<TopicCreation> creation, const relay::Clock& clock)
    : creation_(creation), clock_(clock) {}

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
  topic.stage = Topic::Stage::unasked;
  topic.not_before = {};
  topic.missing_since.reset();
  topic.limits_unanswered = 0;
  topic.creation_asked = false;
  topic.facts = {};
  topic.facts.name = topic.name;
  pending_.push_back(&topic);
}

Topic& TopicDirectory::get(std::string_view name) {
  if (last_ != nullptr && last_->name == name) return *last_;
  auto found = topics_.find(name);
  if (found == topics_.end()) {
    auto topic = std::make_unique<Topic>();
    topic->name = name;
    reset(*topic);
    found = topics_.emplace(topic->name, std::move(topic)).first;
  }
  last_ = found->second.get();
  return *last_;
}

bool TopicDirectory::take_limits(const LimitsAnswer& answer) {
  const bool unanswered = is_passing(answer.error);
  if (unanswered || answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    spdlog::debug("limits of topics can't be read: {}", answer.reason);
    for (auto* topic : pending_) {
      if (topic->stage != Topic::Stage::asked) continue;
      topic->stage = Topic::Stage::described;
      if (unanswered) ++topic->limits_unanswered;
    }
    return !is_unreachable(answer.error);
  }
  for (const auto& each : answer.topics) {
    Topic& topic = get(each.name);
    if (topic.stage != Topic::Stage::asked) continue;
    topic.stage = Topic::Stage::described;
    topic.facts.limits = each.limits;
    // A topic just created may be known to one broker and not to the next.
    const bool ask_again =
        each.error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || is_passing(each.error);
    topic.limits_unanswered = ask_again ? topic.limits_unanswered + 1 : 0;
    if (each.error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED && !topic.limits_unreadable) {
      topic.limits_unreadable = true;
      spdlog::warn(
          "limits of topic {} can't be read, going on without: {}; grant DescribeConfigs "
          "on the topic",
          topic.name, each.reason);
    }
  }
  return true;
}

bool TopicDirectory::take_creation(const CreationAnswer& answer) {
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::creating) continue;
    if (!answer.topic.empty() && answer.topic != topic->name) continue;
    switch (answer.error) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        spdlog::info("created topic {} with {} partitions and {} replicas", topic->name,
                     creation_->partitions, creation_->replication_factor);
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
        if (is_passing(answer.error)) {
          topic->creation_asked = false;
          again(*topic, unreachable_retry);
        } else {
          refused_creation_ = failed_creation(topic->facts, answer.reason);
        }
    }
  }
  return !is_unreachable(answer.error);
}

TopicDirectory::Progress TopicDirectory::advance() {
  Progress progress;
  if (refused_creation_) throw refusal(*refused_creation_);
  if (pending_.empty()) return progress;
  const auto start = clock_.now();
  ask_for_limits(start);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Topic& topic = *pending_[i];
    if (topic.stage != Topic::Stage::described || topic.not_before > start) continue;
    const auto spent = std::chrono::duration_cast<milliseconds>(clock_.now() - start);
    if (spent >= metadata_budget) break;
    inspect(topic, metadata_budget - spent, progress);
  }
  if (refused_creation_) throw refusal(*refused_creation_);
  std::erase_if(pending_, [](const Topic* topic) { return topic->stage == Topic::Stage::ready; });
  return progress;
}

void TopicDirectory::ask_for_limits(relay::Instant now) {
  std::vector<std::string> names;
  for (auto* topic : pending_) {
    if (topic->stage != Topic::Stage::unasked || topic->not_before > now) continue;
    topic->stage = Topic::Stage::asked;
    names.push_back(topic->name);
  }
  if (!names.empty()) ask_limits(*producer_, names, admin_timeout);
}

void TopicDirectory::inspect(Topic& topic, milliseconds timeout, Progress& progress) {
  const auto answer = ask_metadata(*producer_, topic.handle.get(), timeout);
  using Kind = MetadataAnswer::Kind;
  progress.contact = progress.contact || answer.kind != Kind::unreachable;
  topic.facts.broker = answer.broker;
  topic.facts.brokers = answer.brokers;
  switch (answer.kind) {
    case Kind::found:
      return found(topic, answer, progress);
    case Kind::missing:
      return missing(topic);
    case Kind::unauthorized:
      throw refusal(forbidden_topic(topic.facts, answer.reason));
    case Kind::invalid:
      throw refusal(invalid_topic(topic.facts, answer.reason));
    case Kind::passing:
      return again(topic, passing_retry);
    case Kind::unreachable:
      topic.missing_since.reset();
      return again(topic, unreachable_retry);
  }
}

void TopicDirectory::found(Topic& topic, const MetadataAnswer& answer, Progress& progress) {
  if (topic.limits_unanswered > 0 && topic.limits_unanswered < limit_attempts) {
    return again(topic, milliseconds{0});
  }
  topic.facts.partitions = answer.partitions;
  topic.facts.replication_factor = answer.replication_factor;
  if (topic.expected_partitions != 0 && topic.expected_partitions != answer.partitions) {
    spdlog::warn(
        "topic {} has {} partitions instead of {}: its keys are spread anew from here on, "
        "and the order of a key's events across the change isn't kept",
        topic.name, answer.partitions, topic.expected_partitions);
  }
  topic.expected_partitions = answer.partitions;
  topic.stage = Topic::Stage::ready;
  progress.ready.push_back(&topic);
}

void TopicDirectory::missing(Topic& topic) {
  topic.limits_unanswered = 0;
  if (creation_ && !topic.creation_asked) {
    topic.creation_asked = true;
    topic.stage = Topic::Stage::creating;
    if (const auto answer = ask_creation(*producer_, topic.name, *creation_, admin_timeout)) {
      take_creation(*answer);
    }
    return;
  }
  const auto now = clock_.now();
  if (!topic.missing_since) topic.missing_since = now;
  if (now - *topic.missing_since >= missing_grace) throw refusal(missing_topic(topic.facts));
  again(topic, missing_retry);
}

void TopicDirectory::again(Topic& topic, milliseconds delay) {
  topic.stage = Topic::Stage::unasked;
  topic.not_before = clock_.now() + delay;
}

std::optional<relay::Instant> TopicDirectory::next_due() const {
  std::optional<relay::Instant> due;
  for (const auto* topic : pending_) {
    if (topic->stage != Topic::Stage::unasked && topic->stage != Topic::Stage::described) continue;
    if (!due || topic->not_before < *due) due = topic->not_before;
  }
  return due;
}

}  // namespace walpost::kafka
