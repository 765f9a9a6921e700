// Bad input, one table: what is arranged, what walpost must say, and with which exit code. After
// each, nothing may be confirmed past the fault: the slot stands where it stood, or before the
// event that can't be published, and a second start meets the same fault again.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include "integration/outbox_world.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

constexpr int usage = 2;
constexpr int refused = 3;
constexpr int poisoned = 4;

struct Case {
  std::string name;
  int code;
  std::string says;  ///< regular expression, in the log
  std::function<void(OutboxWorld&)> arrange = [](OutboxWorld&) {};
  std::vector<std::string> set = {};
  std::function<void(OutboxWorld&, WalpostOptions&)> arguments = [](OutboxWorld&, WalpostOptions&) {
  };
  std::map<std::string, std::string> settings = {};
  std::map<std::string, std::string> topic_configs = {};
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

std::function<void(OutboxWorld&)> sql(const std::string& statements) {
  return [statements](OutboxWorld& world) { world.server.exec(statements); };
}

void replace_slot(OutboxWorld& world, const std::string& create) {
  world.server.exec("select pg_drop_replication_slot('walpost')");
  world.server.exec(create);
}

std::function<void(OutboxWorld&)> slot(const std::string& create) {
  return [create](OutboxWorld& world) { replace_slot(world, create); };
}

void slot_of_another_database(OutboxWorld& world) {
  world.server.exec("select pg_drop_replication_slot('walpost')");
  world.server.exec("create database other");
  Session(world.server.conninfo(Transport::unix_socket, "other"))
      .exec("select pg_create_logical_replication_slot('walpost', 'pgoutput')");
}

void lose_the_slot(OutboxWorld& world) {
  world.server.exec("select pg_drop_replication_slot('oracle')");
  world.server.exec("create table filler(t text)");
  const auto lost = [&] {
    world.server.exec(
        "insert into filler select repeat(md5(g::text), 100) from generate_series(1, 20000) g");
    world.server.exec("checkpoint");
    return world.server.value(
               "select wal_status from pg_replication_slots where slot_name = 'walpost'") == "lost";
  };
  if (!eventually(lost, Deadline::in(milliseconds(60000)))) throw std::runtime_error("never lost");
}

void publication_younger_than_its_slot(OutboxWorld& world) {
  world.server.exec("drop publication walpost");
  world.server.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) values "
      "('order', 'early', 'E', '{}')");
  world.server.exec("create publication walpost for table outbox with (publish = 'insert')");
  world.server.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) values "
      "('order', 'late', 'E', '{}')");
}

void password_for_tcp(OutboxWorld& world) {
  world.server.exec("create role relay login replication password 'right'");
  const auto hba = world.server.data_directory() / "pg_hba.conf";
  std::ofstream(hba) << "local all all trust\nlocal replication all trust\n"
                        "host all relay 127.0.0.1/32 scram-sha-256\n"
                        "host replication relay 127.0.0.1/32 scram-sha-256\n"
                        "host all all 127.0.0.1/32 trust\n";
  world.server.reload();
}

// A good event, the one that can't be published, and another good one.
std::function<void(OutboxWorld&)> around(const std::string& table_change,
                                         const std::string& values) {
  return [table_change, values](OutboxWorld& world) {
    const std::string insert =
        "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) values ";
    if (!table_change.empty()) world.server.exec(table_change);
    world.server.exec(insert + "('order', 'before', 'E', '{}', null)");
    world.server.exec(insert + values);
    world.server.exec(insert + "('order', 'after', 'E', '{}', null)");
  };
}

void table_without(OutboxWorld& world, const std::string& column) {
  world.server.exec("drop publication walpost");
  world.server.exec("alter table outbox drop column " + column);
  world.server.exec("create publication walpost for table outbox with (publish = 'insert')");
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"SlotMissing", refused, "slot walpost.*does not exist.*walpost init",
       sql("select pg_drop_replication_slot('walpost')")},
      {"SlotOfAnotherDatabase", refused, "slot walpost.*database.*other", slot_of_another_database},
      {"SlotOfAnotherPlugin", refused, "slot walpost.*test_decoding",
       slot("select pg_create_logical_replication_slot('walpost', 'test_decoding')")},
      {"SlotPhysical", refused, "slot walpost.*physical",
       slot("select pg_create_physical_replication_slot('walpost')")},
      {"SlotLost",
       refused,
       "slot walpost.*lost",
       lose_the_slot,
       {},
       [](auto&, auto&) {},
       {{"max_slot_wal_keep_size", "16MB"},
        {"max_wal_size", "32MB"},
        {"min_wal_size", "32MB"},
        {"wal_keep_size", "0"}}},
      {"PublicationMissing", refused, "publication walpost.*does not exist",
       sql("drop publication walpost")},
      {"PublicationYoungerThanItsSlot", refused, "publication .*walpost.*",
       publication_younger_than_its_slot},
      {"PublicationWithoutTheTable", refused, "publication walpost.*no table",
       sql("drop publication walpost; create publication walpost")},
      {"PublicationWithoutInsert", refused, "publication walpost.*insert",
       sql("alter publication walpost set (publish = 'update')")},
      {"PublicationWithAColumnListThatDropsAMappedColumn", refused, "outbox.*payload",
       sql("drop publication walpost; create publication walpost for table outbox (id, "
           "aggregate_type, aggregate_id, event_type) with (publish = 'insert')")},
      {"TableWithoutAKeyColumn", refused, "public.outbox.*aggregate_id",
       [](OutboxWorld& world) { table_without(world, "aggregate_id"); }},
      {"RoleWithoutReplication",
       refused,
       "relay.*REPLICATION|REPLICATION.*relay",
       sql("create role relay login"),
       {},
       [](OutboxWorld& world, WalpostOptions& options) {
         options.postgres = world.server.conninfo(Transport::unix_socket, "postgres", "relay");
       }},
      {"WrongPassword",
       refused,
       "password authentication failed",
       password_for_tcp,
       {},
       [](OutboxWorld& world, WalpostOptions& options) {
         options.postgres =
             world.server.conninfo(Transport::tcp, "postgres", "relay") + " password=wrong";
       }},
      {"DatabaseMissing",
       refused,
       "nowhere.*does not exist",
       sql("select 1"),
       {},
       [](OutboxWorld& world, WalpostOptions& options) {
         options.postgres = world.server.conninfo(Transport::unix_socket, "nowhere");
       }},
      {"TopicMissing",
       refused,
       "topic no-such-topic.*does not exist",
       around("", "('order', 'k', 'E', '{}', null)"),
       {"route.topic=no-such-topic"}},
      {"RowLargerThanTheTopicAllows",
       poisoned,
       "event [0-9a-f-]{36} of table public.outbox, commit LSN .*(too large|limit)",
       around("", "('order', 'k', 'E', jsonb_build_object('t', repeat('x', 30000)), null)"),
       {},
       [](auto&, auto&) {},
       {},
       {{"max.message.bytes", "20000"}}},
      {"NullKey", poisoned,
       "event [0-9a-f-]{36} of table public.outbox, commit LSN .*aggregate_id.*NULL",
       around("alter table outbox alter aggregate_id drop not null",
              "('order', null, 'E', '{}', null)")},
      {"NullPayload", poisoned,
       "event [0-9a-f-]{36} of table public.outbox, commit LSN .*payload.*NULL",
       around("alter table outbox alter payload drop not null", "('order', 'k', 'E', null, null)")},
      {"MalformedHeaders", poisoned,
       "event [0-9a-f-]{36} of table public.outbox, commit LSN .*headers",
       around("", "('order', 'k', 'E', '{}', '[1]')")},
      {"UnknownConfigurationKey",
       usage,
       "route.topc.*route.topic",
       sql("select 1"),
       {"route.topc=x"}},
      {"UnsafeAcks", usage, "acks", sql("select 1"), {"kafka.acks=1"}},
      {"UnsafeIdempotence",
       usage,
       "enable.idempotence",
       sql("select 1"),
       {"kafka.enable.idempotence=false"}},
      {"UnsafeTimeout",
       usage,
       "message.timeout.ms",
       sql("select 1"),
       {"kafka.message.timeout.ms=1000"}},
      {"UnknownProperty", usage, "no.such.property", sql("select 1"), {"kafka.no.such.property=1"}},
  };
  return all;
}

class Refusal : public ::testing::TestWithParam<Case> {
 protected:
  static std::string slot_position(OutboxWorld& world) {
    const auto rows = world.server.rows(
        "select confirmed_flush_lsn from pg_replication_slots where slot_name = 'walpost'");
    return rows.empty() ? "" : rows[0][0].value_or("");
  }
  static std::string events_committed_before(OutboxWorld& world, const std::string& position) {
    return world.server.value("select count(*) from pg_logical_slot_peek_changes('oracle', '" +
                              position + "', null) where data like 'table public.outbox: INSERT%'");
  }
};

TEST_P(Refusal, IsAClearErrorWithItsExitCodeAndNothingIsConfirmedPastIt) {
  const Case& one = GetParam();
  OutboxWorld world(KafkaBroker::shared(),
                    {.postgres = {.settings = one.settings}, .topic_configs = one.topic_configs});
  one.arrange(world);
  const std::string before = slot_position(world);
  WalpostOptions options = world.arguments(one.set);
  one.arguments(world, options);
  std::string position = before;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Walpost walpost(options);
    EXPECT_EQ(walpost.wait(), exited(one.code)) << walpost.log();
    EXPECT_TRUE(std::regex_search(walpost.log(), std::regex(one.says)))
        << "expected: " << one.says << "\n"
        << walpost.log();
    if (attempt == 0) position = slot_position(world);
  }
  EXPECT_EQ(slot_position(world), position);
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read_to_end(Deadline::in(milliseconds(20000)));
  if (one.code == poisoned) {
    ASSERT_EQ(records.size(), 1u);  // the good one in front, once; none behind
    EXPECT_EQ(records[0].key, "before");
  } else {
    EXPECT_TRUE(records.empty());
    // WAL of others before the first event may be confirmed; an event may not.
    EXPECT_TRUE(position == before || events_committed_before(world, position) == "0")
        << before << " -> " << position;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Refusal, ::testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name; });

TEST(Poison, IsSkippedByTheStatementThatTheErrorNames) {
  OutboxWorld world(KafkaBroker::shared());
  const std::string slot = "orders_relay";  // not the default: the statement has to name it
  world.server.exec("select pg_copy_logical_replication_slot('walpost', '" + slot + "')");
  around("alter table outbox alter aggregate_id drop not null",
         "('order', null, 'E', '{}', null)")(world);
  const std::string end = world.server.value("select pg_current_wal_lsn()");
  Walpost stopped = world.start({"postgres.slot=" + slot});
  EXPECT_EQ(stopped.wait(), exited(poisoned));
  std::smatch mend;
  const std::string log = stopped.log();
  ASSERT_TRUE(
      std::regex_search(log, mend, std::regex("SELECT pg_replication_slot_advance\\([^)]*\\)")));
  world.server.exec(mend[0]);
  Walpost walpost = world.start({"postgres.slot=" + slot});
  const auto confirmed = [&] {
    return world.server.value("select confirmed_flush_lsn >= '" + end +
                              "' from pg_replication_slots where slot_name = '" + slot + "'") ==
           "t";
  };
  ASSERT_TRUE(eventually(confirmed, Deadline::in(milliseconds(60000)))) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const auto records = KafkaReader(KafkaBroker::shared().bootstrap(), world.topic)
                           .read_to_end(Deadline::in(milliseconds(20000)));
  ASSERT_EQ(records.size(), 2u);
  const std::set<std::string> keys{records[0].key.value(), records[1].key.value()};
  EXPECT_EQ(keys, (std::set<std::string>{"before", "after"}));
}

TEST(ActiveSlot, IsWaitedForAndNamed) {
  OutboxWorld world(KafkaBroker::shared());
  Process other({(postgres_binaries() / "pg_recvlogical").string(), "-d", world.server.conninfo(),
                 "-S", "walpost", "--start", "-o", "proto_version=1", "-o",
                 "publication_names=walpost", "-f", "/dev/null"});
  ASSERT_TRUE(eventually(
      [&] {
        return world.server.value(
                   "select active from pg_replication_slots where slot_name = 'walpost'") == "t";
      },
      Deadline::in(milliseconds(10000))));
  Walpost walpost = world.start();
  EXPECT_TRUE(
      walpost.process().wait_for_line("standing by.*walpost", Deadline::in(milliseconds(10000))))
      << walpost.log();
  EXPECT_TRUE(walpost.process().running());
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(UnreachableBroker, IsTriedAgainWithAReadableLogAndWithoutACrash) {
  OutboxWorld world(KafkaBroker::shared());
  WalpostOptions options = world.arguments();
  options.kafka = "127.0.0.1:1";
  Walpost walpost(options);
  walpost.wait_until_streaming();
  world.write(5);
  EXPECT_TRUE(walpost.process().wait_for_line("127.0.0.1:1", Deadline::in(milliseconds(20000))))
      << walpost.log();
  static_cast<void>(eventually([] { return false; }, Deadline::in(milliseconds(5000))));
  EXPECT_TRUE(walpost.process().running()) << walpost.log();
  const std::string log = walpost.log();
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 20) << log;
  walpost.kill();
}

TEST(Init, RefusesAnUnloggedOutbox) {
  PostgresServer server;
  server.exec(
      "create unlogged table outbox(id uuid primary key, aggregate_type text, aggregate_id "
      "text, event_type text, payload jsonb)");
  const Finished done = Walpost::command(
      "init", {.postgres = server.conninfo(), .kafka = "", .set = {}, .extra = {}, .process = {}});
  EXPECT_EQ(done.status, exited(refused)) << done.out << done.err;
  EXPECT_TRUE(std::regex_search(
      done.err,
      std::regex("outbox is UNLOGGED[^\\0]*ALTER TABLE \"public\".\"outbox\" SET LOGGED")))
      << done.err;
}

TEST(Init, RefusesAServerWhoseWalLevelIsTooLow) {
  PostgresServer server({.settings = {{"wal_level", "replica"}}});
  const Finished done = Walpost::command("init", {.postgres = server.conninfo(),
                                                  .kafka = "",
                                                  .set = {},
                                                  .extra = {"--create-outbox"},
                                                  .process = {}});
  EXPECT_EQ(done.status, exited(refused)) << done.out << done.err;
  EXPECT_TRUE(std::regex_search(
      done.err, std::regex("wal_level is replica[^\\0]*ALTER SYSTEM SET wal_level")))
      << done.err;
}

}  // namespace
}  // namespace walpost::test
