#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pgoutput/lsn.h"
#include "support/deadline.h"
#include "support/postgres_server.h"
#include "walpost/postgres/replication_source.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/failure.h"

namespace walpost::test {

/// The real time; a stop is asked for by the test.
class RealClock final : public relay::Clock {
 public:
  [[nodiscard]] relay::Instant now() const override;
  [[nodiscard]] pgoutput::Timestamp utc() const override;
  void wait(std::vector<pollfd>& fds, relay::Instant until) override;
  [[nodiscard]] int stop_requests() const override { return stops; }

  int stops = 0;
};

/// A ReplicationSource and the little of the relay that it needs: reads, remembers what came, sends
/// status when told to.
class Reader {
 public:
  explicit Reader(postgres::Options options);

  relay::StreamStart open(pgoutput::Lsn confirmed = {});
  /// The same once the server has noticed that the slot's former connection is gone.
  relay::StreamStart open_when_free(pgoutput::Lsn confirmed = {});
  /// Turns the loop until `done`; false at the deadline. With `reading` false nothing is taken in.
  bool turn_until(const std::function<bool()>& done, Deadline deadline, bool reading = true);
  bool read_rows(std::size_t count) {
    return turn_until([&] { return committed_rows >= count; }, Deadline::in(milliseconds(20000)));
  }
  /// The same until `done`, but with a status of the confirmed position at every turn.
  bool turn_with_status_until(const std::function<bool()>& done, Deadline deadline, bool reading);
  void send_status(bool ask_for_reply = false);
  /// Turns until the stream fails; the failure. Reports a test failure if it doesn't.
  relay::SessionFailure failure(bool reading = true);
  /// The failure of open().
  relay::SessionFailure refusal(pgoutput::Lsn confirmed = {});

  RealClock clock;
  outbox::MappingOptions mapping;
  outbox::Router router{outbox::RouteOptions{}};
  postgres::ReplicationSource source;

  std::vector<std::vector<std::string>> rows;  ///< of every Insert, as sent
  std::size_t committed_rows = 0;              ///< those whose Commit came as well
  std::size_t bytes = 0;
  std::size_t keepalives = 0;
  pgoutput::Lsn confirmed;  ///< end of the last transaction or keepalive read
  bool keep_rows = true;

 private:
  void turn(bool reading);
  void take(std::string_view frame);
};

/// One server for all tests of a suite, and for each test a database with an outbox table, a
/// publication and a slot, all named after it.
class ReplicationTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  static PostgresServer& server() { return *server_; }
  [[nodiscard]] postgres::Options options() const;
  /// In the test's database.
  void exec(const std::string& sql) { session_->exec(sql); }
  std::string value(const std::string& sql) { return session_->value(sql); }
  void insert(int count);
  pgoutput::Lsn slot_position();

  std::string name_;  ///< of database, publication and slot

 private:
  static std::unique_ptr<PostgresServer> server_;
  std::optional<Session> session_;
};

/// A database "app" with outbox, publication and slot "walpost" on a server of the test's own.
void make_outbox(PostgresServer& server);
[[nodiscard]] postgres::Options outbox_options(const PostgresServer& server);
/// `count` rows in the outbox of make_outbox, one transaction each.
void insert_into_outbox(PostgresServer& server, int count);

}  // namespace walpost::test
