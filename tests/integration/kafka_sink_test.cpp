// The Kafka sink alone against a real broker: what only Kafka's own code can confirm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kafka/record_size.h"
#include "support/kafka_broker.h"
#include "support/kafka_reader.h"
#include "unit/kafka/sink_driver.h"
#include "walpost/kafka/check.h"

namespace walpost::test {
namespace {

using kafka::batch_bytes;
using relay::DeliveryFailure;
using relay::Finding;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

using Values = std::vector<std::string>;

Deadline soon() {
  return Deadline::in(milliseconds(60000));
}

/// Bytes that no codec makes smaller.
std::string noise(std::size_t size) {
  std::mt19937 random(42);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// A value that makes the batch of a record with key "k" and no headers exactly so large.
std::string value_for_batch(std::size_t bytes) {
  auto value = noise(bytes - batch_bytes({"t", "k", "", {}}));
  while (batch_bytes({"t", "k", value, {}}) > bytes) value.pop_back();
  EXPECT_EQ(batch_bytes({"t", "k", value, {}}), bytes);
  return value;
}

class KafkaSink : public testing::Test {
 protected:
  std::string make_topic(int partitions, const std::map<std::string, std::string>& configs = {}) {
    auto name = KafkaBroker::unique_topic("sink");
    broker.create_topic(name, partitions, configs);
    return name;
  }
  kafka::Options options(std::map<std::string, std::string> properties = {}) const {
    return options_for(broker.bootstrap(), std::move(properties));
  }
  Values values_of(const std::string& topic) const {
    KafkaReader reader(broker.bootstrap(), topic);
    Values values;
    for (const auto& record : reader.read_to_end(soon())) values.push_back(*record.value);
    return values;
  }

  KafkaBroker& broker = KafkaBroker::shared();
};

TEST_F(KafkaSink, NothingOvertakesANewProducersFirstRecordThatIsRefused) {
  const auto topic = make_topic(1, {{"max.message.bytes", "20000"}});
  // Compressed, so that the sink leaves the judgement to the broker.
  SinkDriver driver(options({{"compression.type", "zstd"}}));
  ASSERT_TRUE(driver.publish(topic, "k", noise(50000), soon()));
  for (int i = 1; i < 5; ++i) {
    ASSERT_TRUE(driver.publish(topic, "k", std::to_string(i), soon()));
  }
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().kind, DeliveryFailure::Kind::permanent);
  EXPECT_EQ(driver.failed().front().token, SinkDriver::token(0));
  EXPECT_EQ(driver.failed().front().event_id, "e0");
  // Gives what might be under way the time to arrive.
  EXPECT_FALSE(driver.wait_delivered(1, Deadline::in(milliseconds(500))));
  EXPECT_THAT(values_of(topic), IsEmpty());
}

TEST_F(KafkaSink, NothingOvertakesALaterRecordThatIsRefused) {
  const auto topic = make_topic(1, {{"max.message.bytes", "20000"}});
  SinkDriver driver(options({{"compression.type", "zstd"}, {"max.in.flight", "5"}}));
  ASSERT_TRUE(driver.publish(topic, "k", "first", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  ASSERT_TRUE(driver.publish(topic, "k", noise(50000), soon()));
  for (int i = 2; i < 500; ++i) {
    ASSERT_TRUE(driver.publish(topic, "k", std::to_string(i), soon()));
  }
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().kind, DeliveryFailure::Kind::permanent);
  EXPECT_EQ(driver.failed().front().token, SinkDriver::token(1));
  EXPECT_FALSE(driver.wait_delivered(2, Deadline::in(milliseconds(500))));
  EXPECT_EQ(values_of(topic), (Values{"first"}));
}

TEST_F(KafkaSink, KeysGoWhereKafkasOwnProducersSendThem) {
  const auto topic = make_topic(12);
  SinkDriver driver(options());
  std::map<std::string, std::int32_t> expected;
  std::ifstream file(WALPOST_TEST_DATA "/kafka/murmur2.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string hex;
    std::int64_t hash = 0;
    std::int32_t of_1 = 0;
    std::int32_t of_3 = 0;
    std::int32_t of_6 = 0;
    std::int32_t of_12 = 0;
    fields >> hex >> hash >> of_1 >> of_3 >> of_6 >> of_12;
    std::string key;
    for (std::size_t i = 0; hex != "-" && i < hex.size(); i += 2) {
      key.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    expected[key] = of_12;
    ASSERT_TRUE(driver.publish(topic, key, "v", soon()));
  }
  ASSERT_TRUE(driver.wait_delivered(expected.size(), soon()));
  std::map<std::string, std::int32_t> found;
  KafkaReader reader(broker.bootstrap(), topic);
  for (const auto& record : reader.read_to_end(soon())) found[*record.key] = record.partition;
  EXPECT_EQ(found, expected);
  EXPECT_GT(found.size(), 70u);
}

TEST_F(KafkaSink, ARecordOfExactlyTheTopicsLimitPasses) {
  const auto topic = make_topic(1, {{"max.message.bytes", "5000"}});
  SinkDriver driver(options());
  ASSERT_TRUE(driver.offer({topic, "k", value_for_batch(5000), {}}, soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
}

TEST_F(KafkaSink, TheDefaultLimitOfBrokersIsReached) {
  const auto topic = make_topic(1);
  SinkDriver driver(options());
  ASSERT_TRUE(driver.offer({topic, "k", value_for_batch(1048588), {}}, soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
}

TEST_F(KafkaSink, ARecordAByteAboveTheLimitIsRefusedWithBothNumbersAndHarmsNoOther) {
  const auto topic = make_topic(1, {{"max.message.bytes", "5000"}});
  SinkDriver driver(options());
  ASSERT_TRUE(driver.publish(topic, "k", "before", soon()));
  const auto refusal = driver.refusal({topic, "k", value_for_batch(5001), {}}, soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(*refusal, AllOf(HasSubstr("5001"), HasSubstr("5000")));
  ASSERT_TRUE(driver.publish(topic, "k", "behind", soon()));
  EXPECT_TRUE(driver.wait_delivered(2, soon()));
  EXPECT_TRUE(driver.failed().empty());
}

TEST_F(KafkaSink, ARecordForAMissingTopicIsRefusedWhereThatIsPoisonUntilTheTopicIsThere) {
  const auto there = make_topic(1);
  const auto missing = KafkaBroker::unique_topic("late");
  auto chosen = options();
  chosen.missing_topic_is_poison = true;
  SinkDriver driver(chosen);
  const auto refusal = driver.refusal({missing, "k", "v", {}}, soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(*refusal, AllOf(HasSubstr(missing), HasSubstr("does not exist")));
  ASSERT_TRUE(driver.publish(there, "k", "v", soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
  KafkaBroker::shared().create_topic(missing);
  const auto taken = [&] { return !driver.refusal({missing, "k", "v", {}}, soon()); };
  EXPECT_TRUE(eventually(taken, soon()));
  EXPECT_TRUE(driver.wait_delivered(2, soon()));
}

TEST_F(KafkaSink, AConfiguredTopicThatIsMissingIsARefusalAlsoWhereMissingOnesArePoison) {
  auto chosen = options();
  chosen.missing_topic_is_poison = true;
  chosen.known_topics = {KafkaBroker::unique_topic("configured")};
  SinkDriver driver(chosen);
  const auto failure = driver.wait_refused(soon());
  ASSERT_TRUE(failure.has_value());
  EXPECT_THAT(failure->what(), HasSubstr("does not exist"));
}

TEST_F(KafkaSink, AnEventWhoseRowNamesTheTopicOfPositionsIsRefusedByItself) {
  const auto there = make_topic(1);
  auto chosen = options();
  chosen.position_slot = "s";
  SinkDriver driver(chosen);
  const auto refusal = driver.refusal({"walpost.positions", "k", "v", {}}, soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(*refusal, HasSubstr("keeps positions"));
  ASSERT_TRUE(driver.publish(there, "k", "v", soon()));
  EXPECT_TRUE(driver.wait_delivered(1, soon()));
}

TEST_F(KafkaSink, ThePositionIsNotedAlsoByAProducerThatTookOverForSmallerBatches) {
  const auto wide = make_topic(1);
  const auto narrow = make_topic(1, {{"max.message.bytes", "2000"}});
  auto chosen = options();
  chosen.position_slot = "s";
  SinkDriver driver(chosen);
  const auto secured = [&](pgoutput::Lsn position) {
    const Deadline deadline = soon();
    while (driver.sink().secure(position, position) != position)
      if (!driver.poll_once(deadline)) return false;
    return true;
  };
  ASSERT_TRUE(driver.publish(wide, "k", "1", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  ASSERT_TRUE(secured(pgoutput::Lsn{0x200}));
  ASSERT_TRUE(driver.publish(narrow, "k", "2", soon()));
  ASSERT_TRUE(driver.wait_delivered(2, soon()));
  EXPECT_TRUE(secured(pgoutput::Lsn{0x300}));
}

TEST_F(KafkaSink, TheBrokerCountsARecordAsWeDo) {
  const auto topic = make_topic(1, {{"max.message.bytes", "5000"}});
  SinkDriver driver(options({{"compression.type", "gzip"}}));  // which leaves noise as it is
  ASSERT_TRUE(driver.offer({topic, "k", value_for_batch(5000), {}}, soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  ASSERT_TRUE(driver.offer({topic, "k", value_for_batch(5001), {}}, soon()));
  ASSERT_TRUE(driver.wait_failed(soon()));
  EXPECT_EQ(driver.failed().front().token, SinkDriver::token(1));
}

TEST_F(KafkaSink, SmallRecordsFitATopicWithASmallLimit) {
  const auto narrow = make_topic(2, {{"max.message.bytes", "2000"}});
  const auto wide = make_topic(2);
  SinkDriver driver(options());
  std::map<std::string, Values> expected;
  for (int i = 0; i < 3000; ++i) {
    const auto& topic = i < 500 || i % 2 == 0 ? wide : narrow;
    expected[topic].push_back(std::to_string(i));
    ASSERT_TRUE(driver.publish(topic, "one key", expected[topic].back(), soon()));
  }
  ASSERT_TRUE(driver.wait_delivered(3000, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
  EXPECT_EQ(std::set<relay::Token>(driver.delivered().begin(), driver.delivered().end()).size(),
            3000u);
  EXPECT_EQ(values_of(narrow), expected[narrow]);
  EXPECT_EQ(values_of(wide), expected[wide]);
}

TEST_F(KafkaSink, ABatchSizeOfTheUserAboveTheLimitIsRefused) {
  auto wanted = options({{"batch.size", "100000"}});
  wanted.known_topics = {make_topic(1, {{"max.message.bytes", "5000"}})};
  SinkDriver driver(wanted);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->kind(), relay::FailureKind::refused);
  EXPECT_THAT(refusal->what(), AllOf(HasSubstr("100000"), HasSubstr("5000")));
}

TEST_F(KafkaSink, ATopicThatCanNeverAcknowledgeIsRefused) {
  auto wanted = options();
  wanted.known_topics = {make_topic(1, {{"min.insync.replicas", "2"}})};
  SinkDriver driver(wanted);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->what(), HasSubstr("min.insync.replicas is 2"));
}

TEST_F(KafkaSink, AMissingTopicIsRefusedAtItsFirstRecord) {
  const auto topic = KafkaBroker::unique_topic("missing");
  SinkDriver driver(options());
  try {
    (void)driver.publish(topic, "k", "v", soon());
    ADD_FAILURE() << "not refused";
  } catch (const relay::SessionFailure& refusal) {
    EXPECT_EQ(refusal.kind(), relay::FailureKind::refused);
    EXPECT_EQ(refusal.mend(), "kafka-topics.sh --bootstrap-server " + broker.bootstrap() +
                                  " --create --topic " + topic +
                                  " --partitions 6 --replication-factor 1, or set "
                                  "route.create_topics to have walpost create topics");
  }
}

TEST_F(KafkaSink, AMissingTopicIsCreatedWhereThatIsWanted) {
  auto wanted = options();
  wanted.create_topics = kafka::TopicCreation{5, 1};
  const auto topic = KafkaBroker::unique_topic("created");
  SinkDriver driver(wanted);
  ASSERT_TRUE(driver.publish(topic, "k", "v", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  EXPECT_EQ(KafkaReader(broker.bootstrap(), topic).partitions(), 5);
}

TEST_F(KafkaSink, ATopicThatCannotBeCreatedIsRefusedWithTheBrokersReason) {
  auto wanted = options();
  wanted.create_topics = kafka::TopicCreation{5, 3};
  wanted.known_topics = {KafkaBroker::unique_topic("impossible")};
  SinkDriver driver(wanted);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->what(), HasSubstr("replication factor"));
}

TEST_F(KafkaSink, AnIllegalTopicNameIsRefused) {
  auto wanted = options();
  wanted.known_topics = {"not a topic!"};
  SinkDriver driver(wanted);
  const auto refusal = driver.wait_refused(soon());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->kind(), relay::FailureKind::refused);
}

TEST_F(KafkaSink, CheckFindsWhatIsSoundAndWhatIsMissing) {
  auto wanted = options();
  const auto present = make_topic(3);
  const auto missing = KafkaBroker::unique_topic("missing");
  wanted.known_topics = {present, missing};
  const auto findings = kafka::check(wanted, milliseconds(30000));
  EXPECT_THAT(findings, ElementsAre(AllOf(Field(&Finding::subject, "kafka"),
                                          Field(&Finding::level, Finding::Level::pass)),
                                    AllOf(Field(&Finding::subject, "topic " + present),
                                          Field(&Finding::level, Finding::Level::warn),
                                          Field(&Finding::what, HasSubstr("replication factor 1"))),
                                    AllOf(Field(&Finding::subject, "topic " + missing),
                                          Field(&Finding::level, Finding::Level::fail),
                                          Field(&Finding::mend, HasSubstr("--create --topic")))));
}

TEST(KafkaCheck, SaysWhyNoBrokerCanBeReached) {
  const auto findings = kafka::check(options_for("127.0.0.1:1"), milliseconds(1500));
  EXPECT_THAT(findings, ElementsAre(AllOf(Field(&Finding::level, Finding::Level::fail),
                                          Field(&Finding::what, HasSubstr("Connection refused")))));
}

TEST(KafkaCheck, ReportsUnsafePropertiesWithoutAskingABroker) {
  const auto findings =
      kafka::check(options_for("127.0.0.1:1", {{"acks", "1"}}), milliseconds(60000));
  EXPECT_THAT(findings, ElementsAre(Field(&Finding::what, HasSubstr("kafka.acks=1"))));
}

TEST(KafkaSinkOutage, RecordsSurviveAKilledBrokerInOrder) {
  KafkaBroker broker;
  broker.create_topic("orders", 2);
  SinkDriver driver(options_for(broker.bootstrap(), {{"max.in.flight", "5"}}));
  std::map<std::string, Values> expected;
  for (int i = 0; i < 6000; ++i) {
    if (i == 2000) broker.kill();
    if (i == 4000) broker.start();
    const auto key = "key-" + std::to_string(i % 7);
    expected[key].push_back(std::to_string(i));
    ASSERT_TRUE(driver.publish("orders", key, expected[key].back(), soon()));
  }
  ASSERT_TRUE(driver.wait_delivered(6000, soon()));
  EXPECT_THAT(driver.failed(), IsEmpty());
  std::map<std::string, Values> found;
  KafkaReader reader(broker.bootstrap(), "orders");
  for (const auto& record : reader.read_to_end(soon())) found[*record.key].push_back(*record.value);
  EXPECT_EQ(found, expected);
}

TEST(KafkaSinkOutage, DiscardDoesNotWaitForABrokerThatHangs) {
  KafkaBroker broker;
  broker.create_topic("orders", 2);
  SinkDriver driver(options_for(broker.bootstrap()));
  ASSERT_TRUE(driver.publish("orders", "k", "v", soon()));
  ASSERT_TRUE(driver.wait_delivered(1, soon()));
  broker.pause();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(driver.publish("orders", "k", "v", soon()));
  const auto start = std::chrono::steady_clock::now();
  driver.sink().discard();
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  broker.resume();
}

}  // namespace
}  // namespace walpost::test
