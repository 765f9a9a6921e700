#include "integration/replication_world.h"

#include <algorithm>
#include <variant>

#include "pgoutput/decode.h"
#include "pgoutput/framing.h"

namespace walpost::test {
namespace {

// Short enough that a test of a few seconds takes in several turns.
constexpr milliseconds turn_limit{50};

constexpr const char* table_sql =
    "create table outbox(id uuid primary key default gen_random_uuid(), aggregate_type text not "
    "null, aggregate_id text not null, event_type text not null, payload jsonb not null, headers "
    "jsonb, created_at timestamptz not null default now())";

void make_publication_and_slot(Session& session, const std::string& name) {
  session.exec(table_sql);
  session.exec("create publication " + name + " for table outbox with (publish = 'insert')");
  session.exec("select pg_create_logical_replication_slot('" + name + "', 'pgoutput')");
}

std::string insert_sql(int count) {
  return "do $$ begin for i in 1.." + std::to_string(count) +
         " loop insert into outbox(aggregate_type, aggregate_id, event_type, payload) values "
         "('order', i::text, 'Placed', '{}'); commit; end loop; end $$";
}

}  // namespace

relay::Instant RealClock::now() const {
  return std::chrono::steady_clock::now();
}

pgoutput::Timestamp RealClock::utc() const {
  return {};
}

void RealClock::wait(std::vector<pollfd>& fds, relay::Instant until) {
  const auto left = std::chrono::ceil<milliseconds>(until - now());
  ::poll(fds.data(), fds.size(), std::max(0, static_cast<int>(left.count())));
}

Reader::Reader(postgres::Options options) : source(std::move(options), mapping, router, clock) {}

relay::StreamStart Reader::open(pgoutput::Lsn from) {
  const relay::StreamStart start = source.open(from);
  confirmed = start.start;
  return start;
}

relay::StreamStart Reader::open_when_free(pgoutput::Lsn from) {
  std::optional<relay::StreamStart> start;
  const auto opens = [&] {
    try {
      start = open(from);
    } catch (const relay::SessionFailure& failure) {
      if (failure.kind() != relay::FailureKind::slot_active) throw;
    }
    return start.has_value();
  };
  EXPECT_TRUE(eventually(opens, Deadline::in(milliseconds(20000)))) << "the slot stays in use";
  return start.value();
}

void Reader::turn(bool reading) {
  std::vector<pollfd> fds;
  source.watch(fds, reading);
  clock.wait(fds, clock.now() + turn_limit);
  source.receive(reading);
  if (!reading) return;
  while (const auto frame = source.next()) take(*frame);
}

bool Reader::turn_until(const std::function<bool()>& done, Deadline deadline, bool reading) {
  while (!done()) {
    if (deadline.passed()) return false;
    turn(reading);
  }
  return true;
}

bool Reader::turn_with_status_until(const std::function<bool()>& done, Deadline deadline,
                                    bool reading) {
  while (!done()) {
    if (deadline.passed()) return false;
    turn(reading);
    send_status();
  }
  return true;
}

void Reader::send_status(bool ask_for_reply) {
  source.send_status({confirmed, confirmed, confirmed, clock.utc(), ask_for_reply});
}

relay::SessionFailure Reader::failure(bool reading) {
  try {
    turn_until([] { return false; }, Deadline::in(milliseconds(20000)), reading);
  } catch (const relay::SessionFailure& thrown) {
    return thrown;
  }
  ADD_FAILURE() << "the stream went on";
  return {relay::FailureKind::poisoned, relay::Side::walpost, ""};
}

relay::SessionFailure Reader::refusal(pgoutput::Lsn from) {
  try {
    open(from);
  } catch (const relay::SessionFailure& thrown) {
    return thrown;
  }
  ADD_FAILURE() << "opened";
  return {relay::FailureKind::poisoned, relay::Side::walpost, ""};
}

void Reader::take(std::string_view bytes_of_frame) {
  bytes += bytes_of_frame.size();
  const auto parsed = pgoutput::parse_frame(bytes_of_frame);
  const auto& frame = std::get<pgoutput::Frame>(parsed);
  if (const auto* keepalive = std::get_if<pgoutput::Keepalive>(&frame)) {
    ++keepalives;
    confirmed = std::max(confirmed, keepalive->wal_end);
    return;
  }
  const auto decoded = pgoutput::decode(std::get<pgoutput::XLogData>(frame).payload);
  const auto& message = std::get<pgoutput::Message>(decoded);
  if (const auto* insert = std::get_if<pgoutput::Insert>(&message)) {
    std::vector<std::string>& row = rows.emplace_back();
    if (!keep_rows) return;
    for (const pgoutput::Value value : insert->row) row.emplace_back(value.bytes);
  } else if (const auto* commit = std::get_if<pgoutput::Commit>(&message)) {
    confirmed = std::max(confirmed, commit->end_lsn);
    committed_rows = rows.size();
  }
}

std::unique_ptr<PostgresServer> ReplicationTest::server_;

void ReplicationTest::SetUpTestSuite() {
  server_ = std::make_unique<PostgresServer>();
}
void ReplicationTest::TearDownTestSuite() {
  server_.reset();
}

void ReplicationTest::SetUp() {
  static int number = 0;
  name_ = "case" + std::to_string(++number);
  server().exec("create database " + name_);
  session_.emplace(server().conninfo(Transport::unix_socket, name_));
  make_publication_and_slot(*session_, name_);
}

// Slots are few, and one that is left would keep WAL for the rest of the suite.
void ReplicationTest::TearDown() {
  session_.reset();
  server().exec(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where active_pid is not "
      "null");
  EXPECT_TRUE(eventually(
      [] {
        return server().value("select count(*) from pg_replication_slots where active") == "0";
      },
      Deadline::in(milliseconds(10000))));
  server().exec("select pg_drop_replication_slot(slot_name) from pg_replication_slots");
}

postgres::Options ReplicationTest::options() const {
  postgres::Options options;
  options.url = server().conninfo(Transport::unix_socket, name_);
  options.slot = name_;
  options.publication = name_;
  return options;
}

void ReplicationTest::insert(int count) {
  exec(insert_sql(count));
}

pgoutput::Lsn ReplicationTest::slot_position() {
  return pgoutput::Lsn::parse(
             value("select confirmed_flush_lsn from pg_replication_slots where slot_name = '" +
                   name_ + "'"))
      .value_or(pgoutput::Lsn{});
}

void make_outbox(PostgresServer& server) {
  server.exec("create database app");
  Session session(server.conninfo(Transport::unix_socket, "app"));
  make_publication_and_slot(session, "walpost");
}

postgres::Options outbox_options(const PostgresServer& server) {
  postgres::Options options;
  options.url = server.conninfo(Transport::unix_socket, "app");
  return options;
}

void insert_into_outbox(PostgresServer& server, int count) {
  Session(server.conninfo(Transport::unix_socket, "app")).exec(insert_sql(count));
}

}  // namespace walpost::test
