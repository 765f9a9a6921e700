#include "topic_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walpost::kafka {
namespace {

using relay::Finding;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using Level = relay::Finding::Level;

TopicFacts sound_topic() {
  return {"orders", "k1:9092", 3, 6, 3, {std::size_t{1048588}, 2, false, "delete"}};
}

testing::Matcher<Finding> finding(Level level, const std::string& what, const std::string& mend) {
  return AllOf(Field(&Finding::level, level), Field(&Finding::subject, "topic orders"),
               Field(&Finding::what, HasSubstr(what)), Field(&Finding::mend, HasSubstr(mend)));
}

TEST(TopicFacts, ASoundTopicPasses) {
  EXPECT_THAT(judge(sound_topic(), std::nullopt),
              ElementsAre(finding(Level::pass, "6 partitions, 3 replicas", "")));
}

TEST(TopicFacts, MoreInSyncReplicasThanReplicasCanNeverAcknowledge) {
  auto facts = sound_topic();
  facts.replication_factor = 1;
  EXPECT_THAT(judge(facts, std::nullopt),
              ElementsAre(finding(Level::fail, "min.insync.replicas is 2 but there are only 1",
                                  "kafka-configs.sh --bootstrap-server k1:9092 --alter "
                                  "--entity-type topics --entity-name orders --add-config "
                                  "min.insync.replicas=1")));
}

TEST(TopicFacts, FewCopiesAreAWarning) {
  auto facts = sound_topic();
  facts.limits.min_insync_replicas = 1;
  EXPECT_THAT(judge(facts, std::nullopt),
              ElementsAre(finding(Level::warn, "on one broker only", "min.insync.replicas=2")));
}

TEST(TopicFacts, UncleanElectionIsAWarning) {
  auto facts = sound_topic();
  facts.limits.unclean_leader_election = true;
  EXPECT_THAT(
      judge(facts, std::nullopt),
      ElementsAre(finding(Level::warn, "can be lost", "unclean.leader.election.enable=false")));
}

TEST(TopicFacts, ABatchSizeOfTheUserAboveTheLimitIsRefusedWithBothNumbers) {
  EXPECT_THAT(judge(sound_topic(), 2'000'000),
              ElementsAre(finding(Level::fail,
                                  "kafka.batch.size is 2000000 but max.message.bytes "
                                  "is 1048588",
                                  "at most 1048588")));
}

TEST(TopicFacts, WhatTheBrokerDoesNotTellIsNotHeldAgainstTheTopic) {
  auto facts = sound_topic();
  facts.limits = {};
  EXPECT_THAT(judge(facts, 2'000'000), ElementsAre(Field(&Finding::level, Level::pass)));
}

TEST(TopicFacts, AMissingTopicIsRefusedWithTheCommandThatMakesIt) {
  const auto failure = refusal(missing_topic(sound_topic()));
  EXPECT_EQ(failure.kind(), relay::FailureKind::refused);
  EXPECT_EQ(failure.side(), relay::Side::kafka);
  EXPECT_STREQ(failure.what(), "topic orders does not exist");
  EXPECT_EQ(failure.mend(),
            "kafka-topics.sh --bootstrap-server k1:9092 --create --topic orders --partitions 6 "
            "--replication-factor 3, or set route.create_topics to have walpost create topics");
}

TEST(TopicFacts, AForbiddenTopicIsRefusedWithTheAclThatOpensIt) {
  const auto failure =
      refusal(forbidden_topic(sound_topic(), "Broker: Topic authorization failed"));
  EXPECT_THAT(failure.mend(), AllOf(HasSubstr("kafka-acls.sh --bootstrap-server k1:9092 --add"),
                                    HasSubstr("--operation Write --operation Describe"),
                                    HasSubstr("--topic orders")));
}

TEST(TopicFacts, PositionsNeedOnePartitionThatIsCompactedAndNothingElse) {
  auto facts = sound_topic();
  facts.partitions = 1;
  facts.limits.cleanup_policy = "compact";
  EXPECT_THAT(judge_positions(facts), ElementsAre(finding(Level::pass, "compacted", "")));
  facts.limits.cleanup_policy = "compact,delete";
  EXPECT_THAT(judge_positions(facts),
              ElementsAre(finding(Level::fail, "cleanup.policy is compact,delete",
                                  "kafka-configs.sh --bootstrap-server k1:9092 --alter "
                                  "--entity-type topics --entity-name orders --add-config "
                                  "cleanup.policy=compact")));
  facts.limits.cleanup_policy = "compact";
  facts.partitions = 3;
  EXPECT_THAT(judge_positions(facts),
              ElementsAre(finding(Level::fail, "3 partitions instead of one",
                                  "kafka-topics.sh --bootstrap-server k1:9092 --delete --topic "
                                  "orders")));
}

TEST(TopicFacts, ARefusalNamesTheTopic) {
  auto facts = sound_topic();
  facts.limits.min_insync_replicas = 4;
  EXPECT_THAT(refusal(judge(facts, std::nullopt).front()).what(), HasSubstr("topic orders: "));
}

}  // namespace
}  // namespace walpost::kafka
