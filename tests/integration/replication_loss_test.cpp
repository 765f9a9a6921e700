// The stream as it ends: stops, crashes, silence, slow and absent servers, stops of our own.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "integration/replication_world.h"
#include "walpost/postgres/setup.h"

namespace walpost::test {
namespace {

using relay::FailureKind;
using testing::HasSubstr;

Deadline soon() {
  return Deadline::in(milliseconds(20000));
}

class ReplicationLossTest : public ReplicationTest {};

TEST(ReplicationLoss, FastStopIsSeenWhileNothingIsReadAndNotHeldUp) {
  PostgresServer server;
  make_outbox(server);
  insert_into_outbox(server, 2000);
  Reader reader(outbox_options(server));
  reader.open();
  server.request_stop(StopMode::fast);
  ASSERT_TRUE(reader.turn_until([&] { return reader.source.server_stopping(); }, soon(), false));
  reader.source.close();
  EXPECT_TRUE(server.wait_stopped(Deadline::in(milliseconds(5000))));
}

class ReplicationLossByCrash : public testing::TestWithParam<bool> {};

TEST_P(ReplicationLossByCrash, IsTransientWhetherReadingOrNot) {
  PostgresServer server;
  make_outbox(server);
  insert_into_outbox(server, 10);
  Reader reader(outbox_options(server));
  reader.open();
  server.stop(StopMode::immediate);
  EXPECT_EQ(reader.failure(GetParam()).kind(), FailureKind::transient);
  EXPECT_EQ(reader.refusal().kind(), FailureKind::transient);
  server.start();
  reader.open(reader.confirmed);
  insert_into_outbox(server, 1);
  EXPECT_TRUE(reader.read_rows(1));
}

INSTANTIATE_TEST_SUITE_P(Reading, ReplicationLossByCrash, testing::Bool());

TEST_F(ReplicationLossTest, TerminatedWalsenderIsTransient) {
  Reader reader(options());
  reader.open();
  server().exec(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name "
      "= '" +
      name_ + "'");
  const auto failure = reader.failure();
  EXPECT_EQ(failure.kind(), FailureKind::transient);
  EXPECT_THAT(failure.what(), HasSubstr("57P01"));
}

TEST_F(ReplicationLossTest, StatusAloneKeepsTheConnectionWhileNothingIsRead) {
  server().exec("alter database " + name_ + " set wal_sender_timeout = '1s'");
  insert(3000);
  Reader reader(options());
  reader.open();
  const std::string pid_query =
      "select active_pid from pg_replication_slots where slot_name = '" + name_ + "'";
  const std::string pid = value(pid_query);
  EXPECT_FALSE(
      reader.turn_with_status_until([] { return false; }, Deadline::in(milliseconds(3000)), false));
  EXPECT_EQ(value(pid_query), pid);
  EXPECT_TRUE(
      reader.turn_with_status_until([&] { return reader.rows.size() == 3000; }, soon(), true));
}

TEST_F(ReplicationLossTest, WithoutStatusTheServerLetsGoAndThatIsNoticedWithoutReading) {
  server().exec("alter database " + name_ + " set wal_sender_timeout = '1s'");
  Reader reader(options());
  reader.open();
  EXPECT_EQ(reader.failure(false).kind(), FailureKind::transient);
}

TEST_F(ReplicationLossTest, SilenceIsTransientOnlyWhileReading) {
  postgres::Options impatient = options();
  impatient.read_timeout = milliseconds(600);
  Reader reader(impatient);
  reader.open();
  EXPECT_FALSE(reader.turn_until([] { return false; }, Deadline::in(milliseconds(1500)), false));
  const auto failure = reader.failure(true);
  EXPECT_EQ(failure.kind(), FailureKind::transient);
  EXPECT_THAT(failure.what(), HasSubstr("600 ms"));
}

TEST_F(ReplicationLossTest, AnsweredRequestsAreNoSilence) {
  postgres::Options impatient = options();
  impatient.read_timeout = milliseconds(600);
  Reader reader(impatient);
  reader.open();
  const Deadline end = Deadline::in(milliseconds(2000));
  while (!end.passed()) {
    reader.send_status(true);
    const std::size_t before = reader.keepalives;
    ASSERT_TRUE(reader.turn_until([&] { return reader.keepalives > before; }, soon()));
  }
}

TEST_F(ReplicationLossTest, PublicationThatVanishesEndsTheStream) {
  Reader reader(options());
  reader.open();
  insert(1);
  ASSERT_TRUE(reader.read_rows(1));
  exec("drop publication " + name_);
  insert(1);
  const auto failure = reader.failure();
  EXPECT_EQ(failure.kind(), FailureKind::refused);
  EXPECT_THAT(failure.mend(), HasSubstr("publication " + name_ + " did not exist yet"));
  EXPECT_EQ(reader.rows.size(), 1u);
}

// What the preflight reads must not tell the decoder of the present. Nothing but rows may lie
// between the slot and the publication: another change of the catalogue would have the decoder look
// anew.
TEST_F(ReplicationLossTest, RowsOlderThanThePublicationAreRefusedNotSkipped) {
  exec("drop publication " + name_ + "; select pg_drop_replication_slot('" + name_ + "')");
  exec("select pg_create_logical_replication_slot('" + name_ + "', 'pgoutput')");
  insert(5);
  exec("create publication " + name_ + " for table outbox with (publish = 'insert')");
  insert(5);
  Reader reader(options());
  reader.open();
  EXPECT_EQ(reader.failure().kind(), FailureKind::refused);
  EXPECT_TRUE(reader.rows.empty());
}

TEST(ReplicationLoss, LostSlotIsRefusedAndItsLossSaidWithTheRepair) {
  PostgresServer server({{{"max_slot_wal_keep_size", "1MB"}, {"max_wal_size", "32MB"}}});
  make_outbox(server);
  insert_into_outbox(server, 1);
  const auto status = [&] {
    return server.value("select wal_status from pg_replication_slots where slot_name = 'walpost'");
  };
  server.exec("create table filler(a text)");
  ASSERT_TRUE(eventually(
      [&] {
        server.exec("insert into filler values ('x'); select pg_switch_wal(); checkpoint");
        return status() == "lost";
      },
      soon()));
  const auto refusal = Reader(outbox_options(server)).refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::refused);
  EXPECT_THAT(refusal.what(), HasSubstr("slot walpost: it is lost"));
  EXPECT_THAT(refusal.mend(), HasSubstr("pg_drop_replication_slot('walpost')"));
}

TEST_F(ReplicationLossTest, StopWhileConnectingIsInterrupted) {
  Reader reader(options());
  reader.clock.stops = 1;
  EXPECT_EQ(reader.refusal().kind(), FailureKind::interrupted);
}

/// Takes connections and never says a word.
class MuteServer {
 public:
  MuteServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&any), sizeof any);
    ::listen(socket_, 8);
    socklen_t size = sizeof any;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size);
    port = ntohs(any.sin_port);
  }
  ~MuteServer() { ::close(socket_); }
  MuteServer(const MuteServer&) = delete;
  MuteServer& operator=(const MuteServer&) = delete;
  int port = 0;

 private:
  int socket_;
};

TEST(ReplicationLoss, ServerThatNeverAnswersCostsTheConnectTimeout) {
  const MuteServer mute;
  postgres::Options options;
  options.url = "host=127.0.0.1 port=" + std::to_string(mute.port);
  options.connect_timeout = milliseconds(400);
  Reader reader(options);
  const auto begun = reader.clock.now();
  EXPECT_EQ(reader.refusal().kind(), FailureKind::transient);
  EXPECT_LT(reader.clock.now() - begun, milliseconds(4000));
}

TEST(ReplicationLoss, UnreachableServerIsAFindingOfCheck) {
  const MuteServer mute;
  postgres::Options options;
  options.url = "host=127.0.0.1 port=" + std::to_string(mute.port);
  options.connect_timeout = milliseconds(200);
  const outbox::Router router{outbox::RouteOptions{}};
  const auto findings = postgres::check(options, {}, router, false);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().level, relay::Finding::Level::fail);
}

}  // namespace
}  // namespace walpost::test
