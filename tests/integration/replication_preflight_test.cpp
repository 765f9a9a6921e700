// Every refusal of the preflight that a real server can be brought to, and `walpost init`.
#include <gmock/gmock.h>

#include "integration/replication_world.h"
#include "walpost/postgres/setup.h"

namespace walpost::test {
namespace {

using relay::FailureKind;
using relay::Finding;
using testing::AllOf;
using testing::HasSubstr;

/// "$N" in the SQL stands for the name of database, publication and slot.
struct Case {
  const char* name;
  const char* sql;
  const char* what;
  const char* mend;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

std::string named(std::string text, const std::string& name) {
  for (auto at = text.find("$N"); at != std::string::npos; at = text.find("$N", at)) {
    text.replace(at, 2, name);
  }
  return text;
}

class PreflightTest : public ReplicationTest, public testing::WithParamInterface<Case> {};

TEST_P(PreflightTest, RefusesNamingTheMend) {
  exec(named(GetParam().sql, name_));
  const auto refusal = Reader(options()).refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::refused);
  EXPECT_THAT(refusal.what(), HasSubstr(named(GetParam().what, name_)));
  EXPECT_THAT(refusal.mend(), HasSubstr(named(GetParam().mend, name_)));
}

INSTANTIATE_TEST_SUITE_P(
    Slots, PreflightTest,
    testing::Values(Case{"missing", "select pg_drop_replication_slot('$N')",
                         "slot $N: it does not exist", "walpost init"},
                    Case{"physical",
                         "select pg_drop_replication_slot('$N'); select "
                         "pg_create_physical_replication_slot('$N', true)",
                         "physical", "postgres.slot"},
                    Case{"plugin",
                         "select pg_drop_replication_slot('$N'); select "
                         "pg_create_logical_replication_slot('$N', 'test_decoding')",
                         "test_decoding", "pg_drop_replication_slot('$N')"}));

INSTANTIATE_TEST_SUITE_P(
    Publications, PreflightTest,
    testing::Values(
        Case{"missing", "drop publication $N", "publication $N: it does not exist", "walpost init"},
        Case{"no inserts", "alter publication $N set (publish = 'update')",
             "doesn't publish inserts", "ALTER PUBLICATION \"$N\" SET (publish = 'insert')"},
        Case{"no table", "drop publication $N; create publication $N", "no table", "ADD TABLE"},
        Case{"all tables",
             "drop publication $N; create table t(a int); create publication $N for "
             "all tables",
             "ALL TABLES and so publishes 1 table(s) that are no outbox: public.t", "a new slot"},
        Case{"no outbox", "create table t(a int); alter publication $N add table t", "public.t",
             "outbox.columns"},
        Case{"renamed column", "alter table outbox rename payload to body", "payload",
             "outbox.columns.payload"},
        Case{"generated key",
             "alter table outbox rename aggregate_id to src; alter table outbox add aggregate_id "
             "text generated always as (src) stored",
             "aggregate_id", "ALTER PUBLICATION"},
        Case{"unlogged partition",
             "drop publication $N; drop table outbox; create table outbox(id uuid, aggregate_type "
             "text, aggregate_id text, event_type text, payload jsonb) partition by list "
             "(event_type); create unlogged table part partition of outbox default; create "
             "publication $N for table outbox with (publish = 'insert', "
             "publish_via_partition_root = true)",
             "in no WAL", "SET LOGGED"}));

TEST_F(ReplicationTest, SlotOfAnotherDatabaseIsRefused) {
  postgres::Options other = options();
  other.url = server().conninfo();
  EXPECT_THAT(Reader(other).refusal().what(), HasSubstr("belongs to database " + name_));
}

TEST_F(ReplicationTest, SlotMovedBehindOurBackIsRefused) {
  Reader reader(options());
  reader.open();
  reader.source.close();
  insert(3);
  ASSERT_TRUE(eventually(
      [&] {
        try {
          exec("select pg_replication_slot_advance('" + name_ + "', pg_current_wal_lsn())");
          return true;
        } catch (const SqlError&) {
          return false;  // the walsender hasn't gone yet
        }
      },
      Deadline::in(milliseconds(10000))));
  const auto refusal = reader.refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::refused);
  EXPECT_THAT(refusal.what(), HasSubstr("moved by somebody else"));
}

TEST_F(ReplicationTest, ColumnListThatLeavesOutAMappedColumnIsRefused) {
  if (std::stoi(value("show server_version_num")) < 150000) return;  // lists came with 15
  exec(
      named("drop publication $N; create publication $N for table outbox(id, aggregate_type, "
            "aggregate_id, event_type) with (publish = 'insert')",
            name_));
  const auto refusal = Reader(options()).refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::refused);
  EXPECT_THAT(refusal.what(), HasSubstr("payload"));
}

TEST_F(ReplicationTest, DomainsCountAsTheTypeAtTheirBottom) {
  exec(
      "create domain doc as jsonb; create domain doc2 as doc; alter table outbox alter headers "
      "type doc2");
  Reader reader(options());
  EXPECT_NO_THROW(reader.open());
}

TEST_F(ReplicationTest, RoleWithoutReplicationIsRefusedWithTheGrant) {
  server().exec("drop role if exists plain; create role plain login");
  postgres::Options other = options();
  other.url = server().conninfo(Transport::unix_socket, name_, "plain");
  const auto refusal = Reader(other).refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::refused);
  EXPECT_EQ(refusal.mend(), "ALTER ROLE \"plain\" REPLICATION");
}

TEST_F(ReplicationTest, RoleWithReplicationAloneIsEnough) {
  server().exec("drop role if exists relay; create role relay login replication");
  exec("revoke all on schema public from public");
  postgres::Options other = options();
  other.url = server().conninfo(Transport::unix_socket, name_, "relay");
  Reader reader(other);
  ASSERT_NO_THROW(reader.open());
  insert(1);
  EXPECT_TRUE(reader.read_rows(1));
}

TEST_F(ReplicationTest, CheckPassesOnWhatInitMade) {
  exec(named("drop publication $N; drop table outbox; select pg_drop_replication_slot('$N')",
             name_));
  const postgres::SetupRequest request{{}, postgres::OutboxPreset::standard};
  const auto steps = postgres::plan_setup(options(), request);
  ASSERT_EQ(steps.size(), 3u);
  for (const auto& step : steps) EXPECT_FALSE(step.done) << step.what;
  postgres::apply_setup(options(), steps);
  for (const auto& step : postgres::plan_setup(options(), request)) {
    EXPECT_TRUE(step.done) << step.what;
  }
  const outbox::Router router{outbox::RouteOptions{}};
  for (const Finding& finding : postgres::check(options(), {}, router, false)) {
    EXPECT_NE(finding.level, Finding::Level::fail) << finding.subject << ": " << finding.what;
  }
  insert(2);
  Reader reader(options());
  reader.open();
  EXPECT_TRUE(reader.read_rows(2));
}

std::string refusal_of_plan(const postgres::Options& options,
                            const postgres::SetupRequest& request) {
  try {
    static_cast<void>(postgres::plan_setup(options, request));
  } catch (const relay::SessionFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::refused);
    return std::string(failure.what()) + " / " + failure.mend();
  }
  ADD_FAILURE() << "planned";
  return {};
}

TEST_F(ReplicationTest, InitDoesNotCreateTablesUnasked) {
  EXPECT_THAT(refusal_of_plan(options(), {{"missing"}, {}}),
              AllOf(HasSubstr("missing does not exist"), HasSubstr("--create-outbox")));
}

TEST_F(ReplicationTest, InitNeverAltersAPublication) {
  exec("create table second(a int)");
  EXPECT_THAT(
      refusal_of_plan(options(), {{"second"}, {}}),
      AllOf(HasSubstr("doesn't publish table"), HasSubstr("ADD TABLE \"public\".\"second\""),
            HasSubstr("rows written before that are never published")));
}

TEST_F(ReplicationTest, InitRefusesASlotOlderThanItsPublication) {
  exec("drop publication " + name_);
  EXPECT_THAT(refusal_of_plan(options(), {}), HasSubstr("younger than itself"));
}

TEST_F(ReplicationTest, InitRefusesAnUnloggedTable) {
  exec("create unlogged table u(a int)");
  EXPECT_THAT(refusal_of_plan(options(), {{"u"}, {}}),
              HasSubstr("ALTER TABLE \"public\".\"u\" SET LOGGED"));
}

TEST(Preflight, WalLevelOfTheServerIsRefusedByInitAndRun) {
  PostgresServer server;
  make_outbox(server);
  Session(server.conninfo(Transport::unix_socket, "app"))
      .exec("select pg_drop_replication_slot('walpost')");
  server.stop(StopMode::fast);
  server.set("wal_level", "replica");
  server.start();
  EXPECT_THAT(refusal_of_plan(outbox_options(server), {}),
              HasSubstr("ALTER SYSTEM SET wal_level = 'logical'"));
  EXPECT_THAT(Reader(outbox_options(server)).refusal().mend(),
              HasSubstr("ALTER SYSTEM SET wal_level = 'logical'"));
}

}  // namespace
}  // namespace walpost::test
