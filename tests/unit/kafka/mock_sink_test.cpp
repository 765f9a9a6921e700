#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mock_cluster.h"
#include "sink_driver.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

using relay::DeliveryFailure;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

Deadline soon() {
  return Deadline::in(milliseconds(30000));
}

std::vector<std::string> values_of(const MockCluster& cluster, const std::string& topic) {
  KafkaReader reader(cluster.bootstrap(), topic);
  std::vector<std::string> values;
  for (const auto& record : reader.read_to_end(soon())) values.push_back(*record.value);
  return values;
}

class MockSink : public testing::Test {
 protected:
  void SetUp() override { cluster.create_topic("orders", 4); }

  MockCluster cluster{3};
};

TEST_F(MockSink, DeliversEveryRecordOnceAndInOrderPerKey) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  std::vector<relay::Token> published;
  std::map<std::string, std::vector<std::string>> expected;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const auto key = "key-" + std::to_string(i % 10);
    const auto value = std::to_string(i);
    ASSERT_TRUE(driver.publish("orders", key, value, soon()));
    published.push_back(SinkDriver::token(i));
    expected[key].push_back(value);
  }
  ASSERT_TRUE(driver.wait_delivered(2000, soon()));
  EXPECT_THAT(driver.delivered(), UnorderedElementsAreArray(published));
  EXPECT_THAT(driver.failed(), IsEmpty());
  EXPECT_EQ(driver.sink().in_flight(), 0u);
  EXPECT_EQ(driver.sink().in_flight_bytes(), 0u);

  std::map<std::string, std::vector<std::string>> found;
  KafkaReader reader(cluster.bootstrap(), "orders");
  for (const auto& record : reader.read_to_end(soon())) {
    found[*record.key].push_back(*record.value);
  }
  EXPECT_EQ(found, expected);
}

TEST_F(MockSink, KeepsAbsentAndEmptyApart) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  const std::vector<outbox::Header> headers{{"null", std::nullopt}, {"empty", ""}, {"null", "2"}};
  ASSERT_TRUE(driver.offer({"orders", "", std::nullopt, headers}, soon()));
  ASSERT_TRUE(driver.offer({"orders", std::string_view(), std::string_view(), {}}, soon()));
  ASSERT_TRUE(driver.wait_delivered(2, soon()));
  KafkaReader reader(cluster.bootstrap(), "orders");
  const auto records = reader.read_to_end(soon());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].key, "");
  EXPECT_EQ(records[0].value, std::nullopt);
  const std::vector<std::pair<std::string, std::optional<std::string>>> expected{
      {"null", std::nullopt}, {"empty", ""}, {"null", "2"}};
  EXPECT_EQ(records[0].headers, expected);
  EXPECT_EQ(records[1].key, "");
  EXPECT_EQ(records[1].value, "");
}

TEST_F(MockSink, PassingErrorsAreRetriedInOrder) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NO_ERROR,
                        RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                        RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE});
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(driver.publish("orders", "one key", expected.back(), soon()));
  }
  ASSERT_TRUE(driver.wait_delivered(200, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
  EXPECT_EQ(values_of(cluster, "orders"), expected);
}

TEST_F(MockSink, ARecordRefusedForGoodIsReportedFirstAndByName) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_INVALID_RECORD});
  ASSERT_TRUE(driver.publish("orders", "k", "1", soon()));
  ASSERT_TRUE(driver.wait_failed(soon()));
  const auto& failure = driver.failed().front();
  EXPECT_EQ(failure.kind, DeliveryFailure::Kind::permanent);
  EXPECT_EQ(failure.token, SinkDriver::token(1));
  EXPECT_EQ(failure.topic, "orders");
  EXPECT_EQ(failure.event_id, "e1");
  EXPECT_THAT(failure.reason, HasSubstr("Broker failed to validate record"));
}

TEST_F(MockSink, NothingIsPublishedAfterAFailureUntilTheNextProducer) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_INVALID_RECORD});
  ASSERT_TRUE(driver.publish("orders", "k", "1", soon()));
  ASSERT_TRUE(driver.wait_failed(soon()));
  ASSERT_TRUE(driver.publish("orders", "k", "2", soon()));
  ASSERT_TRUE(driver.publish("orders", "other key", "3", soon()));
  EXPECT_GE(driver.sink().in_flight(), 2u);  // accepted, and never to be reported

  driver.restart();
  EXPECT_EQ(driver.sink().in_flight(), 0u);
  ASSERT_TRUE(driver.publish("orders", "k", "1 again", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  EXPECT_EQ(values_of(cluster, "orders"), (std::vector<std::string>{"0", "1 again"}));
}

TEST_F(MockSink, NothingOvertakesANewProducersFirstRecordThatIsRefused) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_INVALID_RECORD});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(driver.publish("orders", "k", std::to_string(i), soon()));
  }
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().token, SinkDriver::token(0));
  EXPECT_THAT(driver.delivered(), IsEmpty());
  EXPECT_THAT(values_of(cluster, "orders"), IsEmpty());
}

TEST_F(MockSink, ALostSequenceIsFatal) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
  ASSERT_TRUE(driver.publish("orders", "k", "1", soon()));
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().kind, DeliveryFailure::Kind::fatal);
  EXPECT_THAT(driver.failed().front().reason, Not(IsEmpty()));
}

TEST_F(MockSink, AMissingRightStopsAtTheRecordWithoutBlamingIt) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  cluster.fail_produce({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().kind, DeliveryFailure::Kind::retryable);
  EXPECT_EQ(driver.failed().front().token, SinkDriver::token(0));
}

TEST_F(MockSink, AFullQueueIsBackPressureAndLosesNothing) {
  SinkDriver driver(options_for(cluster.bootstrap(), {{"queue.buffering.max.messages", "3"}}));
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(driver.publish("orders", "one key", expected.back(), soon()));
  }
  ASSERT_TRUE(driver.wait_delivered(100, soon()));
  EXPECT_EQ(values_of(cluster, "orders"), expected);
}

TEST_F(MockSink, ARecordAboveTheClientsOwnLimitIsRefusedAndGoesNowhere) {
  SinkDriver driver(options_for(cluster.bootstrap(), {{"message.max.bytes", "1000"}}));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  const std::string large(2000, 'x');
  const auto refusal = driver.refusal({"orders", "k", large, {}}, soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(*refusal, HasSubstr("kafka.message.max.bytes"));
  ASSERT_TRUE(driver.publish("orders", "k", "2", soon()));
  ASSERT_TRUE(driver.wait_delivered(2, soon()));
  EXPECT_TRUE(driver.failed().empty());
  EXPECT_EQ(values_of(cluster, "orders"), (std::vector<std::string>{"0", "2"}));
}

TEST_F(MockSink, WhatWasPublishedBeforeARefusedRecordIsStillDelivered) {
  SinkDriver driver(options_for(cluster.bootstrap(), {{"message.max.bytes", "1000"}}));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(driver.publish("orders", "k", std::to_string(i), soon()));
  }
  // Held behind the first record, so that librdkafka sees it only later.
  ASSERT_TRUE(driver.publish("orders", "k", std::string(2000, 'x'), soon()));
  ASSERT_TRUE(driver.wait_delivered(20, soon()));
  ASSERT_EQ(driver.failed().size(), 1u);
  EXPECT_EQ(driver.failed()[0].kind, DeliveryFailure::Kind::permanent);
  EXPECT_EQ(driver.failed()[0].event_id, "e20");
}

TEST_F(MockSink, AMissingTopicIsRefusedWithTheCommandThatMakesIt) {
  cluster.set_topic_error("nosuch", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  auto options = options_for(cluster.bootstrap());
  options.known_topics = {"nosuch"};
  SinkDriver driver(options);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->kind(), relay::FailureKind::refused);
  EXPECT_STREQ(refusal->what(), "topic nosuch does not exist");
  EXPECT_THAT(refusal->mend(), HasSubstr("--create --topic nosuch --partitions"));
}

TEST_F(MockSink, APositionsTopicThatCannotBeUsedIsARefusalAlsoWhereThoseOfEventsArePoison) {
  cluster.set_topic_error("walpost.positions", RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION);
  auto options = options_for(cluster.bootstrap());
  options.missing_topic_is_poison = true;
  options.position_slot = "s";
  SinkDriver driver(options);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->what(), HasSubstr("walpost.positions"));
}

TEST_F(MockSink, ATopicThatAppearsLateIsUsed) {
  cluster.set_topic_error("orders", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  auto options = options_for(cluster.bootstrap());
  options.known_topics = {"orders"};
  SinkDriver driver(options);
  ASSERT_TRUE(driver.poll_once(soon()));
  cluster.set_topic_error("orders", RD_KAFKA_RESP_ERR_NO_ERROR);
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
}

TEST_F(MockSink, ATopicThatWasThereIsGivenLongerToComeBack) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.set_topic_error("orders", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  driver.restart();
  // Longer than a topic never seen before is waited for.
  EXPECT_FALSE(driver.wait_refused(Deadline::in(milliseconds(7000))).has_value());
  cluster.set_topic_error("orders", RD_KAFKA_RESP_ERR_NO_ERROR);
  ASSERT_TRUE(driver.publish("orders", "k", "1", soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
}

TEST_F(MockSink, AForbiddenTopicIsRefusedWithTheAclThatOpensIt) {
  cluster.set_topic_error("orders", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  auto options = options_for(cluster.bootstrap());
  options.known_topics = {"orders"};
  SinkDriver driver(options);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->mend(), HasSubstr("--operation Write --operation Describe --topic orders"));
}

TEST_F(MockSink, WhileNoBrokerAnswersItOnlyWaits) {
  cluster.set_down(true);
  auto options = options_for(cluster.bootstrap());
  options.known_topics = {"orders"};
  SinkDriver driver(options);
  // Longer than the grace for missing topics and the time limit of an admin request.
  EXPECT_FALSE(driver.wait_refused(Deadline::in(milliseconds(7000))).has_value());
  EXPECT_LT(driver.longest_poll(), milliseconds(250));
  cluster.set_down(false);
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
}

TEST_F(MockSink, RecordsSurviveAnOutageInOrder) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  std::vector<std::string> expected{"first"};
  ASSERT_TRUE(driver.publish("orders", "k", "first", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.set_down(true);
  for (int i = 0; i < 50; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(driver.publish("orders", "k", expected.back(), soon()));
  }
  EXPECT_FALSE(driver.wait_delivered(2, Deadline::in(milliseconds(1500))));
  cluster.set_down(false);
  ASSERT_TRUE(driver.wait_delivered(51, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
  EXPECT_EQ(values_of(cluster, "orders"), expected);
}

TEST_F(MockSink, DiscardDoesNotWaitForBrokersThatAreDown) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.set_down(true);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(driver.publish("orders", "k", "lost", soon()));
  }
  const auto start = std::chrono::steady_clock::now();
  driver.sink().discard();
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  EXPECT_EQ(driver.sink().in_flight(), 0u);
}

TEST_F(MockSink, WhatWasDiscardedNeverAppears) {
  SinkDriver driver(options_for(cluster.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "0", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  cluster.set_down(true);
  ASSERT_TRUE(driver.publish("orders", "k", "discarded", soon()));
  driver.restart();
  cluster.set_down(false);
  ASSERT_TRUE(driver.publish("orders", "k", "1", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  EXPECT_EQ(values_of(cluster, "orders"), (std::vector<std::string>{"0", "1"}));
}

TEST_F(MockSink, UnusablePropertiesAreRefusedBeforeAnythingStarts) {
  SteadyClock clock;
  try {
    const kafka::ProducerSink sink(options_for(cluster.bootstrap(), {{"acks", "1"}}), clock);
    ADD_FAILURE() << "accepted";
  } catch (const relay::SessionFailure& failure) {
    EXPECT_EQ(failure.kind(), relay::FailureKind::refused);
    EXPECT_THAT(failure.what(), HasSubstr("kafka.acks=1"));
  }
}

}  // namespace
}  // namespace walpost::test
