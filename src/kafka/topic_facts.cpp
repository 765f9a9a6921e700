#include "topic_facts.h"

#include <algorithm>

namespace walpost::kafka {
namespace {

using relay::Finding;

// Enough copies that one broker may fail while another is being restarted.
constexpr int wanted_replicas = 3;
constexpr int wanted_insync = 2;
constexpr int suggested_partitions = 6;

Finding finding(Finding::Level level, const TopicFacts& facts, std::string what, std::string mend) {
  return {level, "topic " + facts.name, std::move(what), std::move(mend)};
}

std::string server(const TopicFacts& facts) {
  return " --bootstrap-server " + (facts.broker.empty() ? "HOST:PORT" : facts.broker);
}

std::string set_topic_config(const TopicFacts& facts, const std::string& setting) {
  return "kafka-configs.sh" + server(facts) + " --alter --entity-type topics --entity-name " +
         facts.name + " --add-config " + setting;
}

std::string grant(const TopicFacts& facts, const std::string& operations) {
  return "kafka-acls.sh" + server(facts) + " --add --allow-principal User:NAME " + operations +
         " --topic " + facts.name;
}

void judge_durability(const TopicFacts& facts, std::vector<Finding>& findings) {
  const auto insync = facts.limits.min_insync_replicas;
  const auto replicas = facts.replication_factor;
  if (insync && *insync > replicas) {
    findings.push_back(
        finding(Finding::Level::fail, facts,
                "min.insync.replicas is " + std::to_string(*insync) + " but there are only " +
                    std::to_string(replicas) + " replicas: no record can ever be acknowledged",
                set_topic_config(facts, "min.insync.replicas=" + std::to_string(replicas)) +
                    ", or give the topic more replicas"));
    return;
  }
  if (replicas < wanted_replicas || (insync && *insync < wanted_insync)) {
    std::string what = "an acknowledged event may exist on one broker only: replication factor " +
                       std::to_string(replicas);
    if (insync) what += ", min.insync.replicas " + std::to_string(*insync);
    findings.push_back(finding(Finding::Level::warn, facts, what,
                               "use replication factor 3 and min.insync.replicas=2 in production"));
  }
}

void judge_election(const TopicFacts& facts, std::vector<Finding>& findings) {
  if (!facts.limits.unclean_leader_election.value_or(false)) return;
  findings.push_back(finding(
      Finding::Level::warn, facts,
      "unclean.leader.election.enable is true: acknowledged events can be lost with a broker",
      set_topic_config(facts, "unclean.leader.election.enable=false")));
}

void judge_compaction(const TopicFacts& facts, std::vector<Finding>& findings) {
  const auto& policy = facts.limits.cleanup_policy;
  if (!policy || *policy == "compact") return;
  findings.push_back(finding(Finding::Level::fail, facts,
                             "cleanup.policy is " + *policy +
                                 ": positions kept in it would be deleted by age instead of "
                                 "replaced",
                             set_topic_config(facts, "cleanup.policy=compact")));
}

void judge_one_partition(const TopicFacts& facts, std::vector<Finding>& findings) {
  if (facts.partitions == 1) return;
  findings.push_back(finding(
      Finding::Level::fail, facts,
      "it has " + std::to_string(facts.partitions) +
          " partitions instead of one: positions are looked for in the first only",
      "stop every walpost that uses it and kafka-topics.sh" + server(facts) + " --delete --topic " +
          facts.name + "; walpost makes it anew, and goes on from where each slot stands"));
}

void judge_batches(const TopicFacts& facts, std::optional<std::size_t> chosen,
                   std::vector<Finding>& findings) {
  const auto limit = facts.limits.max_message_bytes;
  if (!limit || !chosen || *chosen <= *limit) return;
  findings.push_back(finding(
      Finding::Level::fail, facts,
      "kafka.batch.size is " + std::to_string(*chosen) + " but max.message.bytes is " +
          std::to_string(*limit) + ": the broker would refuse whole batches of small events",
      "leave kafka.batch.size out or set it to at most " + std::to_string(*limit)));
}

}  // namespace

std::vector<Finding> judge(const TopicFacts& facts, std::optional<std::size_t> chosen_batch_bytes) {
  std::vector<Finding> findings;
  judge_durability(facts, findings);
  judge_election(facts, findings);
  judge_batches(facts, chosen_batch_bytes, findings);
  if (findings.empty()) {
    findings.push_back(finding(Finding::Level::pass, facts,
                               std::to_string(facts.partitions) + " partitions, " +
                                   std::to_string(facts.replication_factor) + " replicas",
                               {}));
  }
  return findings;
}

std::vector<Finding> judge_positions(const TopicFacts& facts) {
  std::vector<Finding> findings;
  judge_one_partition(facts, findings);
  judge_compaction(facts, findings);
  judge_durability(facts, findings);
  judge_election(facts, findings);
  if (findings.empty()) {
    findings.push_back(
        finding(Finding::Level::pass, facts,
                "compacted, " + std::to_string(facts.replication_factor) + " replicas", {}));
  }
  return findings;
}

Finding missing_topic(const TopicFacts& facts) {
  const int replicas = std::clamp(facts.brokers, 1, wanted_replicas);
  return finding(Finding::Level::fail, facts, "topic " + facts.name + " does not exist",
                 "kafka-topics.sh" + server(facts) + " --create --topic " + facts.name +
                     " --partitions " + std::to_string(suggested_partitions) +
                     " --replication-factor " + std::to_string(replicas) +
                     ", or set route.create_topics to have walpost create topics");
}

Finding forbidden_topic(const TopicFacts& facts, const std::string& reason) {
  return finding(Finding::Level::fail, facts,
                 "this user may not use topic " + facts.name + ": " + reason,
                 grant(facts, "--operation Write --operation Describe"));
}

Finding invalid_topic(const TopicFacts& facts, const std::string& reason) {
  return finding(Finding::Level::fail, facts, "topic " + facts.name + " can't be used: " + reason,
                 "correct route.topic or route.topics, or see the broker's log");
}

Finding failed_creation(const TopicFacts& facts, const std::string& reason) {
  return finding(Finding::Level::fail, facts,
                 "topic " + facts.name + " couldn't be created: " + reason,
                 "correct route.create_topics or create the topic by hand");
}

Finding forbidden_creation(const TopicFacts& facts, const std::string& reason) {
  return finding(Finding::Level::fail, facts,
                 "this user may not create topic " + facts.name + ": " + reason,
                 grant(facts, "--operation Create --operation Write --operation Describe") +
                     ", or create the topic by hand");
}

relay::SessionFailure refusal(const Finding& finding) {
  auto what = finding.what;
  if (what.find(finding.subject) == std::string::npos) what = finding.subject + ": " + what;
  return {relay::FailureKind::refused, relay::Side::kafka, what, finding.mend};
}

}  // namespace walpost::kafka
