#include "postgres/sqlstate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walpost::postgres {
namespace {

using relay::FailureKind;
using testing::HasSubstr;
using testing::Not;

const Names names{"walpost", "pub", "relay_role", "app"};

struct Situation {
  const char* what;
  Phase phase;
  const char* sqlstate;
  FailureKind kind;
  const char* mend;  ///< a part of it
};

class Classification : public testing::TestWithParam<Situation> {};

// The situations and their SQLSTATEs were seen on PostgreSQL 15.20 and 18.4, or read in the
// documentation's appendix "PostgreSQL Error Codes".
TEST_P(Classification, TellsWhetherWaitingHelps) {
  const Situation& situation = GetParam();
  const Verdict verdict = classify(situation.phase, {situation.sqlstate, "text", ""}, names);
  EXPECT_EQ(verdict.kind, situation.kind) << situation.what;
  EXPECT_THAT(verdict.mend, HasSubstr(situation.mend)) << situation.what;
}

INSTANTIATE_TEST_SUITE_P(
    Situations, Classification,
    testing::Values(
        Situation{"no REPLICATION attribute", Phase::connecting, "42501", FailureKind::refused,
                  "ALTER ROLE \"relay_role\" REPLICATION"},
        Situation{"no pg_hba.conf entry", Phase::connecting, "28000", FailureKind::refused,
                  "pg_hba.conf"},
        Situation{"wrong password", Phase::connecting, "28P01", FailureKind::refused, "password"},
        Situation{"no such database", Phase::connecting, "3D000", FailureKind::refused, "\"app\""},
        Situation{"max_wal_senders", Phase::connecting, "53300", FailureKind::transient, ""},
        Situation{"starting up", Phase::connecting, "57P03", FailureKind::transient, ""},
        Situation{"server unreachable", Phase::connecting, "", FailureKind::transient, ""},
        Situation{"slot held", Phase::starting, "55006", FailureKind::slot_active, ""},
        Situation{"slot dropped meanwhile", Phase::starting, "42704", FailureKind::refused,
                  "pg_drop_replication_slot('walpost')"},
        Situation{"slot lost", Phase::starting, "55000", FailureKind::refused, "walpost check"},
        Situation{"bad option", Phase::starting, "22023", FailureKind::refused, "check"},
        Situation{"publication missing there", Phase::streaming, "42704", FailureKind::refused,
                  "publication pub did not exist yet"},
        Situation{"row too large", Phase::streaming, "XX000", FailureKind::refused, "too large"},
        Situation{"row filter fails", Phase::streaming, "22003", FailureKind::refused,
                  "row filter"},
        Situation{"WAL segment missing", Phase::streaming, "58P01", FailureKind::refused, "check"},
        Situation{"differing column lists", Phase::streaming, "0A000", FailureKind::refused,
                  "check"},
        Situation{"terminated", Phase::streaming, "57P01", FailureKind::transient, ""},
        Situation{"crash", Phase::streaming, "57P02", FailureKind::transient, ""},
        Situation{"disk full", Phase::streaming, "53100", FailureKind::transient, ""},
        Situation{"out of memory", Phase::streaming, "53200", FailureKind::transient, ""},
        Situation{"connection lost", Phase::streaming, "", FailureKind::transient, ""},
        Situation{"I/O error", Phase::streaming, "58030", FailureKind::transient, ""},
        Situation{"not the owner", Phase::setting_up, "42501", FailureKind::refused,
                  "GRANT CREATE ON DATABASE \"app\" TO \"relay_role\""},
        Situation{"max_replication_slots", Phase::setting_up, "53400", FailureKind::refused,
                  "max_replication_slots"},
        Situation{"serialization", Phase::inspecting, "40001", FailureKind::transient, ""}));

TEST(SqlState, ServerThatShutsDownIsLetGo) {
  EXPECT_EQ(
      classify(Phase::connecting, {"57P03", "the database system is shutting down", ""}, names)
          .kind,
      FailureKind::server_stopping);
}

TEST(SqlState, MissingPasswordIsNotWaitedFor) {
  ServerError error{"", "fe_sendauth: no password supplied", ""};
  error.needs_password = true;
  EXPECT_EQ(classify(Phase::connecting, error, names).kind, FailureKind::refused);
}

TEST(SqlState, FailureNamesSlotTextAndState) {
  const auto thrown =
      failure(Phase::streaming, {"42704", "publication \"p\"\n is gone", ""}, names);
  EXPECT_STREQ(thrown.what(),
               "streaming, slot walpost: publication \"p\" is gone [SQLSTATE 42704]");
  EXPECT_EQ(thrown.side(), relay::Side::postgres);
}

TEST(SqlState, FailureLeavesOutWhatMayQuoteARow) {
  const auto thrown =
      failure(Phase::streaming,
              {"22P02", "invalid input syntax for type integer: \"secret\"", "secret"}, names);
  EXPECT_THAT(thrown.what(), Not(HasSubstr("secret")));
  EXPECT_THAT(thrown.what(), HasSubstr("22P02"));
}

TEST(SqlState, FailureTellsWhyASlotIsUnusable) {
  const auto thrown = failure(
      Phase::starting, {"55000", "can no longer access replication slot", "idle_timeout"}, names);
  EXPECT_THAT(thrown.what(), HasSubstr("(idle_timeout)"));
}

// Captured from libpq 15.20 with PQERRORS_VERBOSE.
TEST(ConnectError, StateIsReadFromTheVerboseText) {
  const ServerError error = parse_connect_error(
      "connection to server on socket \"/tmp/.s.PGSQL.5432\" failed: FATAL:  42501: must be "
      "superuser or replication role to start walsender\nLOCATION:  InitPostgres, "
      "postinit.c:896\n");
  EXPECT_EQ(error.sqlstate, "42501");
  EXPECT_EQ(error.message,
            "connection to server on socket \"/tmp/.s.PGSQL.5432\" failed: FATAL: must be "
            "superuser or replication role to start walsender");
}

TEST(ConnectError, TranslatedTextIsReadAsWell) {
  const ServerError error = parse_connect_error(
      "connection to server on socket \"/tmp/.s.PGSQL.5432\" failed: FATAL:  57P03: das "
      "Datenbanksystem fährt herunter\nORT:  ProcessStartupPacket, postmaster.c:2400\n");
  EXPECT_EQ(error.sqlstate, "57P03");
  EXPECT_THAT(error.message, Not(HasSubstr("postmaster.c")));
}

TEST(ConnectError, UnreachableServerHasNoState) {
  const ServerError error = parse_connect_error(
      "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server "
      "running on that host and accepting TCP/IP connections?\n");
  EXPECT_EQ(error.sqlstate, "");
  EXPECT_THAT(error.message, HasSubstr("Connection refused Is the server"));
}

TEST(ConnectError, OfSeveralHostsAnUnreachableOneMeansWaiting) {
  const ServerError error = parse_connect_error(
      "connection to server on socket \"/nope/.s.PGSQL.5432\" failed: No such file or "
      "directory\n\tIs the server running locally and accepting connections on that "
      "socket?\nconnection to server on socket \"/tmp/.s.PGSQL.5432\" failed: FATAL:  28000: role "
      "\"zz\" does not exist\nLOCATION:  InitializeSessionUserId, miscinit.c:768\n");
  EXPECT_EQ(error.sqlstate, "");
}

TEST(ConnectError, OfSeveralRefusalsTheMildestCounts) {
  const ServerError error = parse_connect_error(
      "connection to server at \"a\", port 5432 failed: FATAL:  57P03: the database system is "
      "starting up\nconnection to server at \"b\", port 5432 failed: FATAL:  28000: no\n");
  EXPECT_EQ(error.sqlstate, "57P03");
}

}  // namespace
}  // namespace walpost::postgres
