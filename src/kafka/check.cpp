#include "walpost/kafka/check.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "cluster_queries.h"
#include "delivery_errors.h"
#include "position_record.h"
#include "producer.h"
#include "properties.h"
#include "topic_facts.h"
#include "wakeup.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

using relay::Finding;
using relay::Instant;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds attempt{1000};

milliseconds until(Instant deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - SteadyClock::now());
  return std::max(left, milliseconds{0});
}

/// The latest connection error that librdkafka has queued, for a message that says more than
/// "timed out".
std::optional<std::string> connection_error(const Producer& producer) {
  std::optional<std::string> reason;
  while (const auto event = producer.next_event()) {
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_ERROR) continue;
    if (rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) continue;
    reason = rd_kafka_event_error_string(event.get());
  }
  return reason;
}

/// Repeats the question until there is a lasting answer or the time is up.
MetadataAnswer ask(const Producer& producer, rd_kafka_topic_t* topic, Instant deadline) {
  using Kind = MetadataAnswer::Kind;
  for (;;) {
    auto answer = ask_metadata(producer.client(), topic, std::min(attempt, until(deadline)));
    const bool lasting = answer.kind != Kind::passing && answer.kind != Kind::unreachable;
    if (lasting || until(deadline) == milliseconds{0}) return answer;
  }
}

TopicLimits limits_of(const Producer& producer, int broker_id, const std::string& topic,
                      Instant deadline) {
  const auto timeout = until(deadline);
  if (timeout == milliseconds{0}) return {};
  ask_limits(producer, broker_id, {topic}, timeout);
  while (until(deadline) > milliseconds{0}) {
    const auto event = producer.next_event(until(deadline));
    if (!event) break;
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT) continue;
    const auto answer = read_limits(event.get());
    if (!answer.topics.empty()) return answer.topics.front().limits;
    break;
  }
  return {};
}

Finding unreachable(const Producer& producer, std::string reason) {
  if (auto error = connection_error(producer)) reason = std::move(*error);
  return {Finding::Level::fail, "kafka", "no broker can be reached: " + reason,
          "check kafka.bootstrap.servers, the network, and the security.protocol, sasl.* and ssl.* "
          "properties under kafka"};
}

std::vector<Finding> missing(const TopicFacts& facts, const Options& options) {
  if (!options.create_topics) return {missing_topic(facts)};
  return {{Finding::Level::pass,
           "topic " + facts.name,
           "does not exist yet; walpost run creates it with " +
               std::to_string(options.create_topics->partitions) + " partitions and " +
               std::to_string(options.create_topics->replication_factor) + " replicas",
           {}}};
}

std::vector<Finding> missing_positions(const TopicFacts& facts) {
  return {{Finding::Level::pass,
           "topic " + facts.name,
           "does not exist yet; walpost run creates it",
           {}}};
}

std::vector<Finding> check_topic(const Producer& producer, const std::string& name,
                                 const Options& options,
                                 std::optional<std::size_t> chosen_batch_bytes, Instant deadline) {
  const auto topic = producer.topic(name, nullptr);
  const auto answer = ask(producer, topic.get(), deadline);
  TopicFacts facts{
      name, answer.broker, answer.brokers, answer.partitions, answer.replication_factor, {}};
  using Kind = MetadataAnswer::Kind;
  const bool holds_events = name != positions_topic;
  switch (answer.kind) {
    case Kind::found:
      facts.limits = limits_of(producer, answer.broker_id, name, deadline);
      return holds_events ? judge(facts, chosen_batch_bytes) : judge_positions(facts);
    case Kind::missing:
      return holds_events ? missing(facts, options) : missing_positions(facts);
    case Kind::unauthorized:
      return {forbidden_topic(facts, answer.reason)};
    case Kind::invalid:
      return {invalid_topic(facts, answer.reason)};
    case Kind::passing:
    case Kind::unreachable:
      return {unreachable(producer, answer.reason)};
  }
  return {};
}

std::vector<Finding> check_cluster(const Options& options, Instant deadline) {
  const Wakeup wakeup;
  const auto properties = producer_properties(options.properties, std::nullopt);
  const Producer producer(properties, wakeup.event_fd());
  const auto chosen = properties.batch_bytes_chosen
                          ? std::optional<std::size_t>(properties.batch_bytes)
                          : std::nullopt;
  const auto answer = ask(producer, nullptr, deadline);
  if (answer.kind == MetadataAnswer::Kind::unreachable) {
    return {unreachable(producer, answer.reason)};
  }
  std::vector<Finding> findings{
      {Finding::Level::pass,
       "kafka",
       std::to_string(answer.brokers) + " brokers, reached through " + answer.broker,
       {}}};
  auto topics = options.known_topics;
  if (!options.position_slot.empty()) topics.emplace_back(positions_topic);
  for (const auto& name : topics) {
    auto found = check_topic(producer, name, options, chosen, deadline);
    findings.insert(findings.end(), std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
  }
  return findings;
}

}  // namespace

std::vector<Finding> check(const Options& options, milliseconds timeout) {
  std::vector<Finding> findings;
  for (auto& error : property_errors(options.properties)) {
    findings.push_back(
        {Finding::Level::fail, "kafka", std::move(error), "correct the properties under kafka"});
  }
  if (!findings.empty()) return findings;
  try {
    return check_cluster(options, SteadyClock::now() + timeout);
  } catch (const relay::SessionFailure& failure) {
    return {{Finding::Level::fail, "kafka", failure.what(), failure.mend()}};
  }
}

}  // namespace walpost::kafka
