// The five verifications of the transactional outbox pattern, each on real PostgreSQL and Kafka.
#include <gtest/gtest.h>

#include <set>

#include "integration/outbox_world.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

constexpr const char* place_order =
    "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) values "
    "('order', '%s', 'OrderPlaced', '{\"id\": \"%s\"}', '{\"traceId\": \"t-1\", \"n\": 7}');";

std::string place(const std::string& key) {
  std::string sql = place_order;
  for (auto at = sql.find("%s"); at != std::string::npos; at = sql.find("%s"))
    sql.replace(at, 2, key);
  return sql;
}

std::vector<std::string> keys(const std::vector<ReadRecord>& records) {
  std::vector<std::string> all;
  all.reserve(records.size());
  for (const ReadRecord& record : records) all.push_back(record.key.value_or("(null)"));
  return all;
}

TEST(OutboxPattern, ARecordIsKeyHeadersAndPayloadOfItsRow) {
  OutboxWorld world(KafkaBroker::shared());
  Walpost walpost = world.start();
  world.server.exec(place("order-1"));
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read(1, Deadline::in(milliseconds(20000)));
  ASSERT_EQ(records.size(), 1u);
  const ReadRecord& record = records[0];
  EXPECT_EQ(record.key, "order-1");
  EXPECT_EQ(record.value, world.server.value("select payload from outbox"));
  EXPECT_EQ(record.headers.at(0), (std::pair<std::string, std::optional<std::string>>("n", "7")));
  EXPECT_EQ(record.header("traceId"), "t-1");
  EXPECT_EQ(record.header("messageId"), world.server.value("select id from outbox"));
  EXPECT_EQ(record.header("eventType"), "OrderPlaced");
  EXPECT_EQ(record.header("aggregateType"), "order");
  EXPECT_EQ(record.header("occurredAt"),
            world.server.value(
                "select to_json(created_at at time zone 'utc')#>>'{}' || 'Z' from outbox"));
  const std::string position = record.header("walpost-position").value_or("");
  EXPECT_EQ(position.substr(position.find('/', position.find('/') + 1)), "/0") << position;
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(OutboxPattern, NoEventWhenTheBusinessTransactionRollsBack) {
  OutboxWorld world(KafkaBroker::shared());
  Walpost walpost = world.start();
  world.server.exec("begin");
  world.server.exec(place("rolled-back"));
  world.server.exec("rollback");
  world.server.exec("begin");
  world.server.exec(place("kept"));
  world.server.exec("savepoint s");
  world.server.exec(place("rolled-back-to-savepoint"));
  world.server.exec("rollback to s");
  world.server.exec("savepoint s2");
  world.server.exec(place("kept-in-savepoint"));
  world.server.exec("release s2");
  world.server.exec("commit");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read_to_end(Deadline::in(milliseconds(20000)));
  const auto seen = keys(records);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()),
            (std::set<std::string>{"kept", "kept-in-savepoint"}));
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(OutboxPattern, AnOutboxEmptiedInTheSameTransactionPublishesAllTheSame) {
  OutboxWorld world(KafkaBroker::shared());
  Walpost walpost = world.start();
  world.server.exec("begin;" + place("transient") + "delete from outbox; commit");
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read(1, Deadline::in(milliseconds(20000)));
  EXPECT_EQ(keys(records), std::vector<std::string>{"transient"});
  EXPECT_EQ(world.server.value("select count(*) from outbox"), "0");
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(OutboxPattern, EventsWaitWhileTheBrokerIsDownAndArePublishedAfterwards) {
  KafkaBroker broker;
  OutboxWorld world(broker);
  Walpost walpost = world.start();
  world.server.exec(place("before"));
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  broker.stop();
  const std::string held_at = world.confirmed_flush_lsn();
  world.write_concurrently(4, 50);
  EXPECT_EQ(world.confirmed_flush_lsn(), held_at);
  broker.start();
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(OutboxPattern, OrderPerAggregateIsCommitOrder) {
  OutboxWorld world(KafkaBroker::shared());
  Walpost walpost = world.start();
  world.write_concurrently(8, 250);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.exactly_once()) << comparison;
  EXPECT_GT(comparison.committed, 4000u);
  EXPECT_EQ(walpost.stop(), exited(0));
}

// Brings about a record that the broker has and of which walpost never heard: the broker is frozen
// while the row is read and sent, and walpost is frozen before the broker goes on.
class UnheardAcknowledgement : public ::testing::Test {
 protected:
  UnheardAcknowledgement() : world(broker) {
    Walpost walpost = world.start();
    world.server.exec(place("order-1"));
    if (!world.wait_until_confirmed()) throw std::runtime_error(walpost.log());
    KafkaReader reader(broker.bootstrap(), world.topic);
    reader.read(1, Deadline::in(milliseconds(10000)));
    broker.pause();
    world.server.exec(place("order-1"));
    if (!wait_until_read()) throw std::runtime_error(walpost.log());
    walpost.process().signal(SIGSTOP);
    broker.resume();
    published = reader.read(1, Deadline::in(milliseconds(10000))).size();
    walpost.kill();
    confirmed_at_kill = world.confirmed_flush_lsn();
  }

  // The stream's write position says that walpost has taken the row in; handing it to librdkafka
  // and its socket takes a moment more, which nothing reports.
  bool wait_until_read() {
    const std::string target = world.server.value("select pg_current_wal_lsn()");
    const bool read = eventually(
        [&] {
          return world.server.value(
                     "select count(*) from pg_stat_replication where write_lsn >= '" + target +
                     "'") == "1";
        },
        Deadline::in(milliseconds(10000)));
    static_cast<void>(eventually([] { return false; }, Deadline::in(milliseconds(300))));
    return read;
  }

  KafkaBroker broker;
  OutboxWorld world;
  std::size_t published = 0;
  std::string confirmed_at_kill;
};

TEST_F(UnheardAcknowledgement, IsPublishedAgainAfterKillAndAnInboxProcessesItOnce) {
  ASSERT_EQ(published, 1u);
  Walpost again = world.start();
  ASSERT_TRUE(world.wait_until_confirmed()) << again.log();
  EXPECT_EQ(again.stop(), exited(0));
  const Comparison comparison = world.compare();
  EXPECT_TRUE(comparison.at_least_once()) << comparison;
  EXPECT_EQ(comparison.committed, 2u);
  EXPECT_EQ(comparison.duplicates, 1u);

  // The consumer's side: claim the message id and apply the effect in one transaction.
  world.server.exec("create table inbox(message_id uuid primary key)");
  world.server.exec("create table effects(message_id uuid)");
  KafkaReader consumer(broker.bootstrap(), world.topic);
  for (const ReadRecord& record : consumer.read_to_end(Deadline::in(milliseconds(10000)))) {
    const std::string id = record.header("messageId").value_or("");
    world.server.exec("with claimed as (insert into inbox values ('" + id +
                      "') on conflict do nothing returning message_id) "
                      "insert into effects select message_id from claimed");
  }
  EXPECT_EQ(world.server.value("select count(*) from effects"), "2");
  EXPECT_EQ(
      world.server.value("select count(*) from effects e join outbox o on e.message_id = o.id"),
      "2");
}

}  // namespace
}  // namespace walpost::test
