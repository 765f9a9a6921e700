#include "postgres/conninfo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

Options with_url(const std::string& url) {
  Options options;
  options.url = url;
  return options;
}

TEST(ConninfoTest, ReadsUrisAndKeywords) {
  EXPECT_EQ(Conninfo::parse("postgresql://u@h:1/d?sslmode=require").get("sslmode"), "require");
  EXPECT_EQ(Conninfo::parse("host=h dbname=d").get("dbname"), "d");
}

TEST(ConninfoTest, RefusalDoesNotShowTheText) {
  try {
    static_cast<void>(Conninfo::parse("postgresql://u:hunter2@[h"));
    FAIL() << "accepted";
  } catch (const relay::SessionFailure& failure) {
    EXPECT_EQ(failure.kind(), relay::FailureKind::refused);
    EXPECT_THAT(std::string(failure.what()) + failure.mend(),
                testing::Not(testing::HasSubstr("hunter2")));
  }
}

TEST(ConninfoTest, ReplicationIsWithADatabaseWhateverTheUserSays) {
  const Conninfo conninfo =
      replication_conninfo(with_url("replication=true client_encoding=LATIN1"));
  EXPECT_EQ(conninfo.get("replication"), "database");
  EXPECT_EQ(conninfo.get("client_encoding"), "UTF8");
}

TEST(ConninfoTest, OrdinarySessionIsNoWalsender) {
  EXPECT_EQ(session_conninfo(with_url("replication=database")).get("replication"), "");
}

TEST(ConninfoTest, DeadPeersAreNoticedByDefault) {
  const Conninfo conninfo = replication_conninfo(with_url(""));
  EXPECT_EQ(conninfo.get("keepalives"), "1");
  EXPECT_NE(conninfo.get("keepalives_idle"), "");
  EXPECT_NE(conninfo.get("keepalives_interval"), "");
  EXPECT_NE(conninfo.get("keepalives_count"), "");
  EXPECT_EQ(conninfo.get("tcp_user_timeout"), "10000");
  EXPECT_EQ(conninfo.get("fallback_application_name"), "walpost");
}

TEST(ConninfoTest, UsersLivenessSettingsStay) {
  const Conninfo conninfo =
      replication_conninfo(with_url("keepalives_idle=99 tcp_user_timeout=7 keepalives=0"));
  EXPECT_EQ(conninfo.get("keepalives"), "0");
  EXPECT_EQ(conninfo.get("keepalives_idle"), "99");
  EXPECT_EQ(conninfo.get("tcp_user_timeout"), "7");
}

TEST(ConninfoTest, OfSeveralHostsThePrimaryIsMeant) {
  EXPECT_EQ(replication_conninfo(with_url("host=a,b")).get("target_session_attrs"), "primary");
  EXPECT_EQ(replication_conninfo(with_url("host=a")).get("target_session_attrs"), "");
  EXPECT_EQ(replication_conninfo(with_url("host=a,b target_session_attrs=any"))
                .get("target_session_attrs"),
            "any");
}

TEST(ConninfoTest, EveryHostHasItsTime) {
  Options options = with_url("host=a,b,c");
  options.connect_timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(attempt_timeout(options, Conninfo::parse(options.url)), std::chrono::milliseconds(300));
}

}  // namespace
}  // namespace walpost::postgres
