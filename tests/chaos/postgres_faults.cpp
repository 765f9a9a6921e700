#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <stdexcept>

#include "chaos/chaos_world.h"
#include "pgoutput/lsn.h"

namespace walpost::test {
namespace {

constexpr std::uint64_t segment_bytes = std::uint64_t{16} << 20;

void crash(ChaosWorld& world) {
  world.server().stop(StopMode::immediate);
  world.server().start();
}

// The promise is that walpost never makes it wait.
void stop_fast(ChaosWorld& world) {
  world.server().stop(StopMode::fast, Deadline::in(milliseconds(5000)));
  world.server().start();
}

// Waits for the application's sessions, which end; and must not wait for walpost.
void stop_smart(ChaosWorld& world) {
  const Writers::Hold away(world.writers);
  world.server().stop(StopMode::smart, Deadline::in(milliseconds(5000)));
  world.server().start();
}

void kill_server(ChaosWorld& world) {
  world.server().kill();
  world.server().start();
}

void terminate_walsender(ChaosWorld& world) {
  world.server().exec(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where active");
}

// The files that a large transaction would be spilled to lead where there is never room.
std::vector<std::filesystem::path> fill_disk_for(Session& session, ChaosWorld& world) {
  const std::uint64_t xid = std::stoull(session.value("select txid_current()")) & 0xffffffff;
  const auto lsn = pgoutput::Lsn::parse(session.value("select pg_current_wal_insert_lsn()"));
  const std::uint64_t segment = lsn.value().value / segment_bytes * segment_bytes;
  std::vector<std::filesystem::path> files;
  for (const std::uint64_t start : {segment, segment + segment_bytes}) {
    files.push_back(
        world.server().data_directory() / "pg_replslot/walpost" /
        fmt::format("xid-{}-lsn-{:X}-{:X}.spill", xid, start >> 32U, start & 0xffffffff));
    std::filesystem::create_symlink("/dev/full", files.back());
  }
  return files;
}

// The server removes such files itself when the slot is used anew: then there is room again.
void fill_disk(ChaosWorld& world) {
  Session session = world.server().connect();
  session.exec("begin");
  const auto files = fill_disk_for(session, world);
  const auto before = world.server().process().mark();
  session.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload) select 'order', "
      "'order-' || g % 50, 'OrderPlaced', '{}' from generate_series(1, 1500) g");
  const auto full = world.server().process().wait_for_line(
      "could not write to data file for XID.*No space left on device",
      Deadline::in(milliseconds(20000)), before);
  session.exec("commit");
  std::error_code gone;
  for (const auto& file : files) std::filesystem::remove(file, gone);
  if (!full) throw std::runtime_error("the server didn't miss the room to spill");
}

}  // namespace

std::vector<Fault> postgres_faults() {
  return {{"PostgreSQL stopped immediately", crash},
          {"PostgreSQL stopped fast", stop_fast},
          {"PostgreSQL stopped smart", stop_smart},
          {"PostgreSQL killed", kill_server},
          {"walsender terminated", terminate_walsender},
          {"disk full where PostgreSQL spills", fill_disk}};
}

}  // namespace walpost::test
