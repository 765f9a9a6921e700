// Outbox tables of every shape, several in one publication, altered while walpost runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "support/kafka_broker.h"
#include "support/kafka_reader.h"
#include "support/postgres_server.h"
#include "support/walpost_process.h"

namespace walpost::test {
namespace {

constexpr const char* tables = R"(
create type kind as enum ('order', 'refund');
create domain reference as char(12) check (value <> '');
create table partitioned(id bigint generated always as identity, aggregate_type text, aggregate_id uuid,
    event_type text, payload json, headers jsonb, created_at timestamptz not null default now())
    partition by list (aggregate_type);
create table partitioned_a partition of partitioned for values in ('a');
create table partitioned_b(created_at timestamptz not null default now(), payload json,
    id bigint not null, event_type text, headers jsonb, aggregate_id uuid, aggregate_type text);
create table dbz(id uuid default gen_random_uuid() primary key, aggregatetype kind, aggregateid reference,
    type varchar(40), payload bytea);
create table effects(id bigint generated always as identity primary key, aggregate_id varchar(40),
    effect_type text, payload text, idempotency_key text);
alter table partitioned attach partition partitioned_b for values in ('b');
)";

class Tables : public ::testing::Test {
 protected:
  Tables() : broker(KafkaBroker::shared()), topic(KafkaBroker::unique_topic("tables")) {
    broker.create_topic(topic, 1);
    server.exec(tables);
    WalpostOptions init = arguments();
    init.extra = {"--table", "partitioned", "--table", "dbz", "--table", "public.effects"};
    const Finished made = Walpost::command("init", init);
    if (made.status != exited(0)) throw std::runtime_error(made.out + made.err);
  }
  [[nodiscard]] WalpostOptions arguments() const {
    return {.postgres = server.conninfo(),
            .kafka = broker.bootstrap(),
            .set = {"route.topic=" + topic, "route.headers.from={table}"},
            .extra = {},
            .process = {}};
  }
  std::vector<ReadRecord> read(std::size_t count) {
    return KafkaReader(broker.bootstrap(), topic).read(count, Deadline::in(milliseconds(30000)));
  }

  PostgresServer server;
  KafkaBroker& broker;
  const std::string topic;
};

TEST_F(Tables, SeveralOfDifferentShapesAndPartitionedOnesPublishTogether) {
  Walpost walpost(arguments());
  walpost.wait_until_streaming();
  const std::string uuid = "0d4c1c3e-6f0b-4b43-9f3c-d5d2f5b7b6aa";
  server.exec(
      "begin;"
      "insert into partitioned(aggregate_type, aggregate_id, event_type, payload) values"
      " ('a', '" +
      uuid +
      "', 'A', '{\"spaces\":  [1,  2]}');"
      "insert into partitioned_b(id, aggregate_type, aggregate_id, event_type, payload) values"
      " (77, 'b', '" +
      uuid +
      "', 'B', '{}');"
      "insert into dbz(aggregatetype, aggregateid, type, payload) values"
      " ('refund', 'R-1', 'Refunded', '\\x00ff10');"
      "insert into effects(aggregate_id, effect_type, payload, idempotency_key) values"
      " ('', 'Charge', 'plain', 'k-1');"
      "commit");
  const auto records = read(4);
  ASSERT_EQ(records.size(), 4u) << walpost.log();
  EXPECT_EQ(records[0].key, uuid);
  EXPECT_EQ(records[0].value, "{\"spaces\":  [1,  2]}");  // json keeps its bytes
  EXPECT_EQ(records[0].header("from"), "partitioned");
  EXPECT_EQ(records[0].header("messageId"), "1");
  EXPECT_EQ(records[1].header("from"), "partitioned");  // columns in another order in the partition
  EXPECT_EQ(records[1].header("messageId"), "77");
  EXPECT_EQ(records[1].header("eventType"), "B");
  EXPECT_EQ(records[2].key, "R-1");  // char(12) without its padding, through a domain
  EXPECT_EQ(records[2].value, std::string("\x00\xff\x10", 3));
  EXPECT_EQ(records[2].header("aggregateType"), "refund");
  EXPECT_EQ(records[3].key, "");  // an empty key is a key
  EXPECT_EQ(records[3].value, "plain");
  EXPECT_EQ(records[3].header("eventType"), "Charge");
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST_F(Tables, AlteredInMidStreamAreFollowedWhileTheMappedColumnsAreThere) {
  Walpost walpost(arguments());
  walpost.wait_until_streaming();
  const auto insert = [&](const std::string& key) {
    server.exec("insert into effects(aggregate_id, effect_type, payload) values ('" + key +
                "', 'E', '{}')");
  };
  insert("first");
  server.exec("alter table effects add column tenant text default 't'");
  insert("after-add");
  server.exec("alter table effects drop column idempotency_key");
  insert("after-drop");
  server.exec("alter table effects alter payload type jsonb using payload::jsonb");
  insert("after-type");
  server.exec("alter table effects rename column tenant to customer");
  insert("after-rename");
  const auto records = read(5);
  std::vector<std::string> keys;
  keys.reserve(records.size());
  for (const ReadRecord& record : records) keys.push_back(record.key.value_or("(null)"));
  EXPECT_EQ(keys, (std::vector<std::string>{"first", "after-add", "after-drop", "after-type",
                                            "after-rename"}))
      << walpost.log();

  server.exec("alter table effects rename column aggregate_id to subject");
  server.exec("insert into effects(subject, effect_type, payload) values ('lost?', 'E', '{}')");
  EXPECT_EQ(walpost.wait(), exited(3));
  EXPECT_TRUE(std::regex_search(walpost.log(), std::regex("public.effects.*aggregate_id")))
      << walpost.log();
}

// Whatever a role or database sets for its sessions, the bytes published stay the same.
TEST_F(Tables, RoleAndDatabaseSettingsDoNotChangeTheBytes) {
  server.exec(
      "alter role postgres set datestyle = 'SQL, DMY'; alter role postgres set bytea_output = "
      "escape;"
      "alter role postgres set timezone = 'Asia/Kolkata'; alter role postgres set client_encoding "
      "= "
      "latin1; alter database postgres set intervalstyle = iso_8601");
  Walpost walpost(arguments());
  walpost.wait_until_streaming();
  Session fresh = server.connect();
  fresh.exec("set client_encoding = utf8; set bytea_output = hex");
  fresh.exec(
      "insert into dbz(aggregatetype, aggregateid, type, payload) values ('order', 'é', 'T', "
      "'\\xc3a9')");
  fresh.exec(
      "insert into partitioned(aggregate_type, aggregate_id, event_type, payload, created_at) "
      "values"
      " ('a', gen_random_uuid(), 'A', '{}', '2026-11-30 12:00:00+00')");
  const auto records = read(2);
  ASSERT_EQ(records.size(), 2u) << walpost.log();
  EXPECT_EQ(records[0].key, "é");
  EXPECT_EQ(records[0].value, "\xc3\xa9");
  EXPECT_EQ(records[1].header("occurredAt"), "2026-11-30T12:00:00Z");
  EXPECT_EQ(walpost.stop(), exited(0));
}

}  // namespace
}  // namespace walpost::test
