// The exactly-once sink alone against a real broker: fencing, what it reads back, what it notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kafka/position_reader.h"
#include "support/kafka_broker.h"
#include "support/kafka_reader.h"
#include "unit/kafka/sink_driver.h"
#include "walpost/kafka/position_topic.h"
#include "walpost/kafka/transactional_sink.h"

namespace walpost::test {
namespace {

using pgoutput::Lsn;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

Deadline soon() {
  return Deadline::in(milliseconds(30000));
}

/// A sink for slot "s" of a system, driven as the relay drives it.
class Instance {
 public:
  Instance(KafkaBroker& broker, std::string system, Lsn start = Lsn{0x100})
      : options_(options_for(broker.bootstrap())), start_{start, {}, {std::move(system), "1"}, {}} {
    options_.position_slot = "s";
    sink_ = kafka::make_transactional_sink(options_, clock_);
    sink_->open(start_);
  }

  [[nodiscard]] relay::Sink& sink() { return *sink_; }
  [[nodiscard]] std::size_t delivered() const { return reports_.delivered.size(); }
  [[nodiscard]] const relay::Reports& reports() const { return reports_; }
  [[nodiscard]] std::chrono::nanoseconds longest_poll() const { return longest_poll_; }
  /// What secure() says when everything up to `position` was published.
  [[nodiscard]] Lsn secured(Lsn position) { return sink_->secure(position, position); }

  bool poll_once(Deadline deadline) {
    std::vector<pollfd> fds{{sink_->wake_fd(), POLLIN, 0}};
    clock_.wait(fds, clock_.now() + deadline.left());
    if (fds[0].revents == 0) return false;
    const auto start = clock_.now();
    sink_->poll(reports_);
    longest_poll_ = std::max(longest_poll_, clock_.now() - start);
    return true;
  }
  bool poll_until(const std::function<bool()>& holds, Deadline deadline = soon()) {
    while (!holds())
      if (!poll_once(deadline)) return false;
    return true;
  }
  relay::Accepted offer(const std::string& topic, Lsn commit, std::uint32_t ordinal,
                        const std::string& value) {
    return sink_->publish({topic, "k", value, {}, {commit, ordinal, {}}}, {1, ordinal, 0});
  }
  bool publish(const std::string& topic, Lsn commit, std::uint32_t ordinal,
               const std::string& value) {
    const auto taken = [&] { return offer(topic, commit, ordinal, value) == relay::Accepted::yes; };
    return poll_until(taken);
  }
  bool wait_delivered(std::size_t count) {
    return poll_until([&] { return delivered() >= count; });
  }

 private:
  SteadyClock clock_;
  kafka::Options options_;
  relay::StreamStart start_;
  std::unique_ptr<relay::Sink> sink_;
  relay::Reports reports_;
  std::chrono::nanoseconds longest_poll_{0};
};

class TransactionalSinkTest : public ::testing::Test {
 protected:
  KafkaBroker& broker = KafkaBroker::shared();
  const std::string topic = KafkaBroker::unique_topic("eos");
  const std::string system = topic;  // any name that no other test has

  void SetUp() override { broker.create_topic(topic, 1, {{"max.message.bytes", "20000"}}); }
  /// Of the first `count` records that are seen, and of any others. A commit returns before the
  /// last of its records can be read.
  std::vector<std::string> values(std::size_t count) {
    KafkaReader reader(broker.bootstrap(), topic);
    std::vector<std::string> found;
    for (auto& record : reader.read(count, soon())) found.push_back(record.value.value());
    for (auto& record : reader.read_to_end(soon())) found.push_back(record.value.value());
    return found;
  }
  [[nodiscard]] bool comes_to(Lsn confirmed) {
    const auto there = [&] {
      const auto position = recalled().position;
      return position && position->confirmed == confirmed;
    };
    return eventually(there, soon());
  }
  relay::RecalledPosition recalled() {
    kafka::PositionTopic positions(options_for(broker.bootstrap()),
                                   kafka::PositionTopic::Patience::none, [] { return false; });
    return positions.recall({system, "1"}, "s");
  }
};

TEST_F(TransactionalSinkTest, AnEventCountsAsDeliveredOnceItsTransactionIsCommitted) {
  Instance instance(broker, system);
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 1, "b"));
  EXPECT_EQ(instance.secured(Lsn{0x100}), Lsn{0x100});
  ASSERT_TRUE(instance.wait_delivered(1));
  EXPECT_EQ(instance.delivered(), 2u);
  EXPECT_EQ(instance.sink().in_flight(), 0u);
  EXPECT_THAT(values(2), ElementsAre("a", "b"));
}

TEST_F(TransactionalSinkTest, WhatTheOneBeforePublishedIsReportedDeliveredAndNotPublishedAgain) {
  {
    Instance former(broker, system);
    ASSERT_TRUE(former.publish(topic, Lsn{0x200}, 0, "a"));
    ASSERT_TRUE(former.publish(topic, Lsn{0x200}, 1, "b"));
    ASSERT_TRUE(former.wait_delivered(2));
  }
  Instance next(broker, system);
  ASSERT_TRUE(next.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(next.publish(topic, Lsn{0x200}, 1, "b"));
  ASSERT_TRUE(next.publish(topic, Lsn{0x200}, 2, "c"));
  ASSERT_TRUE(next.wait_delivered(3));
  EXPECT_THAT(values(3), ElementsAre("a", "b", "c"));
}

TEST_F(TransactionalSinkTest, WhatComesWhileATransactionEndsGoesIntoTheNextOnesInOrder) {
  constexpr std::uint32_t later = 3000;  // more than go out in one turn
  Instance instance(broker, system);
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "0"));
  const auto due = steady_clock::now() + kafka::Options{}.transactions.interval;
  ASSERT_TRUE(instance.poll_until([&] { return steady_clock::now() >= due; }));
  std::vector<std::string> expected{"0"};
  for (std::uint32_t i = 1; i <= later; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_EQ(instance.offer(topic, Lsn{0x200}, i, expected.back()), relay::Accepted::yes);
  }
  ASSERT_TRUE(instance.wait_delivered(later + 1));
  EXPECT_EQ(instance.sink().in_flight(), 0u);
  EXPECT_THAT(values(later + 1), ElementsAreArray(expected));
}

TEST_F(TransactionalSinkTest, TheNextInstanceFencesTheOneBeforeWhoseOpenTransactionIsNeverSeen) {
  Instance former(broker, system);
  ASSERT_TRUE(former.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(former.wait_delivered(1));
  ASSERT_EQ(former.offer(topic, Lsn{0x210}, 0, "b"), relay::Accepted::yes);  // open, as if asleep
  Instance next(broker, system);
  ASSERT_TRUE(next.publish(topic, Lsn{0x210}, 0, "b"));
  ASSERT_TRUE(next.wait_delivered(1));
  try {
    former.poll_until([] { return false; }, soon());
    FAIL() << "it was not fenced";
  } catch (const relay::SessionFailure& failure) {
    EXPECT_EQ(failure.kind(), relay::FailureKind::transient);
    EXPECT_THAT(failure.what(), HasSubstr("another instance has taken over"));
  }
  EXPECT_THAT(values(2), ElementsAre("a", "b"));
}

TEST_F(TransactionalSinkTest, ARefusedEventIsNoPartOfThePositionAndHarmsNoOther) {
  Instance instance(broker, system);
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "a"));
  EXPECT_EQ(instance.offer(topic, Lsn{0x210}, 0, std::string(30000, 'x')),
            relay::Accepted::refused);
  EXPECT_THAT(instance.sink().refusal(), HasSubstr("too large"));
  static_cast<void>(instance.sink().secure(Lsn{0x100}, Lsn{0x208}));
  ASSERT_TRUE(instance.wait_delivered(1));
  EXPECT_EQ(instance.secured(Lsn{0x208}), Lsn{0x208});
  EXPECT_TRUE(comes_to(Lsn{0x208}));
  ASSERT_TRUE(instance.publish(topic, Lsn{0x220}, 0, "c"));
  ASSERT_TRUE(instance.wait_delivered(2));
  EXPECT_THAT(values(2), ElementsAre("a", "c"));
}

TEST_F(TransactionalSinkTest, APositionThatMovesWithoutEventsIsNotedBeforeItMayBeConfirmed) {
  Instance instance(broker, system);
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(instance.wait_delivered(1));
  EXPECT_LT(instance.secured(Lsn{0x300}), Lsn{0x300});
  ASSERT_TRUE(instance.poll_until([&] { return instance.secured(Lsn{0x300}) == Lsn{0x300}; }));
  EXPECT_TRUE(comes_to(Lsn{0x300}));
}

/// Somebody else's producer of transactions, with a record in the topic of positions.
class Stranger {
 public:
  explicit Stranger(const std::string& bootstrap) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    std::array<char, 256> error{};
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), error.data(), error.size());
    rd_kafka_conf_set(conf, "transactional.id", "stranger", error.data(), error.size());
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error.data(), error.size()));
    expect(rd_kafka_init_transactions(client_.get(), 20000));
    expect(rd_kafka_begin_transaction(client_.get()));
    // The tags that the macros RD_KAFKA_V_* stand for; those are written for C.
    rd_kafka_producev(client_.get(), RD_KAFKA_VTYPE_TOPIC, "walpost.positions", RD_KAFKA_VTYPE_KEY,
                      "x", std::size_t{1}, RD_KAFKA_VTYPE_END);
    rd_kafka_flush(client_.get(), 20000);
  }
  void commit() { expect(rd_kafka_commit_transaction(client_.get(), 20000)); }

 private:
  struct Destroy {
    void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  };
  static void expect(rd_kafka_error_t* error) {
    if (error != nullptr) throw std::runtime_error(rd_kafka_error_string(error));
  }
  std::unique_ptr<rd_kafka_t, Destroy> client_;
};

// Behind a transaction that anyone has open, a reader of committed records doesn't see ours.
TEST_F(TransactionalSinkTest, ItWaitsForStrangersInTheTopicOfPositionsBeforeItTrustsWhatItRead) {
  {
    Instance former(broker, system);
    ASSERT_TRUE(former.publish(topic, Lsn{0x200}, 0, "a"));
    ASSERT_TRUE(former.wait_delivered(1));
  }
  EXPECT_TRUE(eventually([&] { return recalled().complete; }, soon()));
  Stranger stranger(broker.bootstrap());
  {
    // Waits, too: what it reads is all there, but it can't know that.
    Instance waiting(broker, system);
    EXPECT_FALSE(waiting.poll_until(
        [&] { return waiting.offer(topic, Lsn{0x200}, 0, "a") == relay::Accepted::yes; },
        Deadline::in(milliseconds(2500))));
    EXPECT_LT(waiting.longest_poll(), milliseconds(350));
  }
  EXPECT_FALSE(recalled().complete);
  EXPECT_TRUE(recalled().position);
  stranger.commit();
  Instance next(broker, system);
  ASSERT_TRUE(next.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(next.wait_delivered(1));
  EXPECT_TRUE(eventually([&] { return recalled().complete; }, soon()));
  EXPECT_THAT(values(1), ElementsAre("a"));
}

TEST_F(TransactionalSinkTest, APositionIsReadWithoutWaitingForRecordsThatDoNotCome) {
  Instance instance(broker, system);
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "a"));
  ASSERT_TRUE(instance.wait_delivered(1));
  const milliseconds much_longer_than_reading{20000};
  kafka::PositionReader reader(options_for(broker.bootstrap()).properties,
                               kafka::position_key(system, "s"),
                               kafka::PositionReader::Extent::all);
  const Deadline deadline = Deadline::in(much_longer_than_reading);
  while (!reader.advance(much_longer_than_reading)) ASSERT_GT(deadline.left(), milliseconds(0));
  EXPECT_GT(deadline.left(), much_longer_than_reading / 2);
  ASSERT_TRUE(reader.found());
  EXPECT_EQ(reader.found()->last->commit, Lsn{0x200});
}

TEST_F(TransactionalSinkTest, WhereTheBrokerDoesNotAnswerItWaitsWithoutBlockingTheLoop) {
  KafkaBroker own;
  own.create_topic(topic);
  own.pause();
  Instance instance(own, system);
  EXPECT_FALSE(instance.poll_until(
      [&] { return instance.offer(topic, Lsn{0x200}, 0, "a") == relay::Accepted::yes; },
      Deadline::in(milliseconds(7000))));
  EXPECT_THAT(instance.reports().failed, IsEmpty());
  EXPECT_LT(instance.longest_poll(), milliseconds(350));
  own.resume();
  ASSERT_TRUE(instance.publish(topic, Lsn{0x200}, 0, "a"));
  EXPECT_TRUE(instance.wait_delivered(1));
}

}  // namespace
}  // namespace walpost::test
