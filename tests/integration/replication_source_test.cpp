// The stream as it is when all goes well: what is sent once, in which bytes, with which memory.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "integration/replication_world.h"

namespace walpost::test {
namespace {

using pgoutput::Lsn;
using relay::FailureKind;
using testing::ElementsAre;
using testing::HasSubstr;

Deadline soon() {
  return Deadline::in(milliseconds(20000));
}

class ReplicationSourceTest : public ReplicationTest {};

TEST_F(ReplicationSourceTest, FinishReportsWhatTheSlotConfirmed) {
  Reader reader(options());
  const Lsn start = reader.open().start;
  EXPECT_EQ(start, slot_position());
  insert(3);
  ASSERT_TRUE(reader.read_rows(3));
  ASSERT_GT(reader.confirmed, start);
  reader.send_status();
  EXPECT_EQ(reader.source.finish(milliseconds(5000)), reader.confirmed);
  EXPECT_EQ(slot_position(), reader.confirmed);
}

TEST_F(ReplicationSourceTest, OpeningAtTheConfirmedPositionSendsNothingTwice) {
  insert(2);
  Reader reader(options());
  reader.open();
  ASSERT_TRUE(reader.read_rows(2));
  reader.source.close();  // the status never reached the slot
  reader.open_when_free(reader.confirmed);
  insert(1);
  ASSERT_TRUE(reader.read_rows(3));
  EXPECT_EQ(reader.rows.back()[2], "1");
  EXPECT_EQ(reader.rows.size(), 3u);
}

TEST_F(ReplicationSourceTest, OpeningWithoutAPositionStartsFromTheSlot) {
  insert(2);
  Reader first(options());
  first.open();
  ASSERT_TRUE(first.read_rows(2));
  first.source.close();
  Reader second(options());
  second.open_when_free();
  EXPECT_TRUE(second.read_rows(2));
}

TEST_F(ReplicationSourceTest, ReplyThatIsAskedForComes) {
  Reader reader(options());
  reader.open();
  ASSERT_TRUE(reader.turn_until([&] { return reader.keepalives > 0; }, soon()));
  const std::size_t before = reader.keepalives;
  reader.send_status(true);
  EXPECT_TRUE(reader.turn_until([&] { return reader.keepalives > before; }, soon()));
}

TEST_F(ReplicationSourceTest, ServersSenderTimeoutIsReported) {
  server().exec("alter database " + name_ + " set wal_sender_timeout = '7s'");
  Reader reader(options());
  EXPECT_EQ(reader.open().sender_timeout, milliseconds(7000));
}

// The text of each value as the documentation's chapters on data types show it for these settings.
TEST_F(ReplicationSourceTest, RolesAndDatabasesCantChangeTheBytes) {
  for (const char* setting :
       {"datestyle = 'German, DMY'", "bytea_output = 'escape'", "timezone = 'Asia/Tokyo'",
        "intervalstyle = 'iso_8601'", "client_encoding = 'LATIN1'", "extra_float_digits = '-15'",
        "search_path = ''", "standard_conforming_strings = off"}) {
    server().exec("alter database " + name_ + " set " + setting);
    server().exec(std::string("alter role postgres in database ") + name_ + " set " + setting);
  }
  exec("alter table outbox add d date, add b bytea, add i interval, add f float8, add t text");
  exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload, created_at, d, b, i, "
      "f, t) values ('a', 'b', 'c', '{}', '2024-01-02 03:04:05.678+00', '2024-12-31', "
      "'\\x00ff5c'::bytea, '1 day 02:03:04', 0.1, U&'\\20AC')");
  postgres::Options hostile = options();
  hostile.url += " options='-c datestyle=SQL -c bytea_output=escape'";
  Reader reader(hostile);
  reader.open();
  ASSERT_TRUE(reader.read_rows(1));
  const std::vector<std::string> values(reader.rows[0].begin() + 6, reader.rows[0].end());
  EXPECT_THAT(values, ElementsAre("2024-01-02 03:04:05.678+00", "2024-12-31", "\\x00ff5c",
                                  "1 day 02:03:04", "0.1", "\xE2\x82\xAC"));
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(ReplicationSourceTest, MemoryStaysFlatUnderLargeRows) {
  constexpr int rows = 60;
  Reader reader(options());
  reader.keep_rows = false;
  reader.open();
  const auto insert_megabytes = [&] {
    exec(
        "insert into outbox(aggregate_type, aggregate_id, event_type, payload) select 'a', 'b', "
        "'c', jsonb_build_object('x', repeat('0123456789abcdef', 65536)) from "
        "generate_series(1, " +
        std::to_string(rows) + ")");
  };
  insert_megabytes();
  ASSERT_TRUE(reader.read_rows(rows));
  const std::size_t warm = resident_bytes();
  insert_megabytes();
  ASSERT_TRUE(reader.read_rows(2 * rows));
  EXPECT_GT(reader.bytes, std::size_t{2} * rows * 1048576);
  EXPECT_LT(resident_bytes(), warm + 4 * 1048576);
}

TEST_F(ReplicationSourceTest, MemoryStaysFlatWhereLessIsTakenThanArrives) {
  constexpr int rows = 60000;
  Reader reader(options());
  reader.open();
  exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) select 'a', 'b', 'c', "
      "jsonb_build_object('x', repeat('x', 1000)) from generate_series(1, " +
      std::to_string(rows) + ")");
  const std::size_t before = resident_bytes();
  // Far more reads than frames, as where acknowledgements make room for a few records at a time.
  constexpr int reads_a_frame = 20;
  int frames = 0;
  const Deadline deadline = soon();
  while (frames < rows && deadline.left() > milliseconds(0)) {
    for (int i = 0; i < reads_a_frame; ++i) reader.source.receive(true);
    if (reader.source.next()) ++frames;
  }
  ASSERT_EQ(frames, rows);
  EXPECT_LT(resident_bytes(), before + 16 * 1048576);  // of 64
}

TEST_F(ReplicationSourceTest, SecondInstanceIsToldWhoHoldsTheSlot) {
  Reader holder(options());
  holder.open();
  const std::string pid =
      value("select active_pid from pg_replication_slots where slot_name = '" + name_ + "'");
  Reader standby(options());
  const auto refusal = standby.refusal();
  EXPECT_EQ(refusal.kind(), FailureKind::slot_active);
  EXPECT_THAT(refusal.what(), HasSubstr("server process " + pid));
}

TEST_F(ReplicationSourceTest, StandbyTakesOverWhereTheHolderStopped) {
  Reader standby(options());
  standby.open();  // it had the lease once
  standby.source.close();
  Reader holder(options());
  holder.open_when_free();
  EXPECT_EQ(standby.refusal().kind(), FailureKind::slot_active);
  insert(2);
  ASSERT_TRUE(holder.read_rows(2));
  holder.send_status();
  ASSERT_TRUE(holder.source.finish(milliseconds(5000)));
  holder.source.close();
  ASSERT_TRUE(eventually(
      [&] {
        return value("select active from pg_replication_slots where slot_name = '" + name_ + "'") ==
               "f";
      },
      soon()));
  EXPECT_EQ(standby.open().start, holder.confirmed);
}

TEST_F(ReplicationSourceTest, SlotsHealthIsAskedForAndTheSessionLeaves) {
  Reader reader(options());
  reader.open();
  EXPECT_FALSE(reader.source.slot_health());
  ASSERT_TRUE(
      reader.turn_until([&] { return reader.source.slot_health().has_value(); }, soon(), false));
  const auto health = reader.source.slot_health();
  EXPECT_EQ(health->wal_status, postgres::WalStatus::reserved);
  EXPECT_EQ(health->confirmed, slot_position());
  EXPECT_TRUE(eventually(
      [&] {
        return value(
                   "select count(*) from pg_stat_activity where application_name like "
                   "'walpost%' and backend_type = 'client backend'") == "0";
      },
      soon()));
}

}  // namespace
}  // namespace walpost::test
