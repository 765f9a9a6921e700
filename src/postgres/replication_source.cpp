#include "walpost/postgres/replication_source.h"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <set>

#include "connect.h"
#include "copy_stream.h"
#include "position_file.h"
#include "preflight.h"
#include "query.h"
#include "quoting.h"
#include "session.h"
#include "slot_probe.h"

namespace walpost::postgres {

using pgoutput::Lsn;
using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

namespace {

std::string start_command(const Options& options, Lsn from) {
  // Protocol 1 without streaming: only whole committed transactions, in commit order.
  return "START_REPLICATION SLOT " + quote_identifier(options.slot) + " LOGICAL " +
         from.to_string() + " (proto_version '1', publication_names " +
         quote_replication_literal(quote_identifier(options.publication)) + ")";
}

std::string confirmed_query(const std::string& slot) {
  return "SELECT confirmed_flush_lsn FROM pg_catalog.pg_replication_slots WHERE slot_name = " +
         quote_literal(slot);
}

}  // namespace

struct ReplicationSource::Impl {
  Impl(Options opts, const outbox::MappingOptions& mapping, const outbox::Router& router,
       relay::Clock& the_clock, relay::PositionRecall* the_recall)
      : options(std::move(opts)),
        expectations{mapping, router},
        clock(the_clock),
        recall(the_recall),
        names{options.slot, options.publication, {}, {}},
        probe(the_clock, options.slot) {
    if (options.position_file) positions.emplace(*options.position_file);
  }

  relay::StreamStart open(Lsn confirmed);
  Catalogue inspect(PGconn* walsender, Wait& wait);
  void start(PGconn* connection, Wait& wait);
  void load_position();
  void recall_position(const SystemIdentity& server);
  void expect_position_unchanged(const Catalogue& catalogue);
  [[nodiscard]] std::string forget_position(const SystemIdentity& server) const;
  void store(Lsn flushed);
  void report(const Findings& findings);
  void yield_to_holder(const SlotFacts& slot);
  std::optional<Lsn> finish(std::chrono::milliseconds timeout);
  CopyStream& streaming();

  Options options;
  Expectations expectations;
  relay::Clock& clock;
  relay::PositionRecall* recall;  // null: no positions are kept there
  Names names;
  SlotProbe probe;
  std::optional<CopyStream> stream;
  Memory memory;
  std::optional<PositionFile> positions;
  Lsn stored;                    // what the file or the recall held at this attempt
  bool stored_complete = true;   // nothing newer was out of reach
  int backend_pid = 0;           // of our newest stream
  std::set<std::string> warned;  // said once, not at every reconnect
};

relay::StreamStart ReplicationSource::Impl::open(Lsn confirmed) {
  memory.confirmed = std::max(memory.confirmed, confirmed);
  load_position();
  const Conninfo conninfo = replication_conninfo(options);
  Wait wait(clock, clock.now() + attempt_timeout(options, conninfo), Wait::Interrupts::any_stop);
  Handle connection = connect(conninfo, names, wait);
  Catalogue catalogue = inspect(connection.get(), wait);
  if (recall != nullptr && !(catalogue.slot && catalogue.slot->active)) {
    // A position read before the slot can't lie behind it, unless somebody moved the slot.
    recall_position(catalogue.server.identity);
    catalogue = inspect(connection.get(), wait);
  }
  expect_position_unchanged(catalogue);
  Findings findings = preflight(catalogue, memory, options, expectations);
  if (refusal(findings)) {
    // The catalogue isn't read in one moment, and may have been altered meanwhile.
    catalogue = inspect(connection.get(), wait);
    expect_position_unchanged(catalogue);
    findings = preflight(catalogue, memory, options, expectations);
  }
  report(findings);
  if (catalogue.slot->active) yield_to_holder(*catalogue.slot);
  start(connection.get(), wait);

  memory.identity = catalogue.server.identity;
  memory.confirmed = std::max(memory.confirmed, catalogue.slot->confirmed);
  memory.lease_was_elsewhere = false;
  backend_pid = PQbackendPID(connection.get());
  probe.start(same_server(options, connection.get()));
  stream.emplace(std::move(connection), names, clock, options.read_timeout);
  spdlog::info("slot {}: streaming from {}, server process {}", options.slot,
               memory.confirmed.to_string(), backend_pid);
  return {memory.confirmed, catalogue.server.sender_timeout, catalogue.server.identity,
          forget_position(catalogue.server.identity)};
}

std::string ReplicationSource::Impl::forget_position(const SystemIdentity& server) const {
  if (positions) return "delete " + positions->path().string();
  return recall != nullptr ? recall->forgetting(server, options.slot) : "";
}

// Read at every connection: another instance may have gone on with it in the meantime.
void ReplicationSource::Impl::load_position() {
  if (!positions) return;
  const auto found = positions->load(options.slot);
  stored = found ? found->confirmed : Lsn{};
  remember(found, positions->path(), memory);
}

// The same for what is kept under the name of the server's system.
void ReplicationSource::Impl::recall_position(const SystemIdentity& server) {
  const auto recalled = recall->recall(server, options.slot);
  stored = recalled.position ? recalled.position->confirmed : Lsn{};
  stored_complete = recalled.complete;
  if (recalled.position)
    remember(*recalled.position, recall->place(), recall->forgetting(server, options.slot), memory);
}

// What is kept is ahead of the slot as long as both are of one moment. Where another instance wrote
// it while we looked at the server, they aren't: look again.
void ReplicationSource::Impl::expect_position_unchanged(const Catalogue& catalogue) {
  const auto& slot = catalogue.slot;
  if (!stored.valid() || !slot || slot->active || slot->confirmed <= stored) return;
  if (!stored_complete)
    throw SessionFailure(FailureKind::transient, Side::kafka,
                         "the newest position of slot " + options.slot + " in " + recall->place() +
                             " can't be read yet: a transaction is open there");
  Lsn now_stored;
  if (positions)
    if (const auto found = positions->load(options.slot)) now_stored = found->confirmed;
  if (recall != nullptr)
    if (const auto found = recall->recall(catalogue.server.identity, options.slot).position)
      now_stored = found->confirmed;
  if (now_stored == stored) return;
  throw SessionFailure(FailureKind::slot_active, Side::postgres,
                       "slot " + options.slot + " was in use by another instance a moment ago");
}

// Before the slot hears of it: the file is never behind the slot, unless somebody moves the slot.
void ReplicationSource::Impl::store(Lsn flushed) {
  if (!positions || flushed <= stored) return;
  positions->save({*memory.identity, options.slot, flushed});
  stored = flushed;
}

Catalogue ReplicationSource::Impl::inspect(PGconn* walsender, Wait& wait) {
  try {
    fix_settings(walsender, wait);
    const Handle session = connect(same_server(options, walsender), names, wait);
    fix_settings(session.get(), wait);
    return read_catalogue(session.get(), walsender, options.slot, options.publication, wait);
  } catch (const SqlError& error) {
    throw failure(Phase::inspecting, error.error(), names);
  }
}

void ReplicationSource::Impl::start(PGconn* connection, Wait& wait) {
  try {
    const Result result =
        execute(connection, start_command(options, memory.confirmed), wait, "starting replication");
    if (PQresultStatus(result.get()) == PGRES_COPY_BOTH) return;
  } catch (const SqlError& error) {
    // Somebody was faster between the look and the start, and moves the slot from now on.
    if (error.error().sqlstate == "55006") memory.lease_was_elsewhere = true;
    throw failure(Phase::starting, error.error(), names);
  }
  throw SessionFailure(FailureKind::transient, Side::postgres,
                       "slot " + options.slot + ": START_REPLICATION did not start a stream");
}

void ReplicationSource::Impl::report(const Findings& findings) {
  for (const relay::Finding& finding : findings) {
    if (finding.level != relay::Finding::Level::warn) continue;
    if (!warned.insert(finding.subject + finding.what).second) continue;
    spdlog::warn("{}: {}; mend: {}", finding.subject, finding.what, finding.mend);
  }
  if (auto failure = refusal(findings)) throw std::move(*failure);
}

void ReplicationSource::Impl::yield_to_holder(const SlotFacts& slot) {
  // The server may not have noticed yet that our own former connection is gone.
  const bool ours = slot.active_pid == backend_pid;
  memory.lease_was_elsewhere = memory.lease_was_elsewhere || !ours;
  throw SessionFailure(FailureKind::slot_active, Side::postgres,
                       "slot " + options.slot + " is in use by server process " +
                           std::to_string(slot.active_pid) +
                           (ours ? ", this process's former connection" : ""));
}

CopyStream& ReplicationSource::Impl::streaming() {
  if (!stream) throw std::logic_error("the replication stream is used while it isn't open");
  return *stream;
}

std::optional<Lsn> ReplicationSource::Impl::finish(std::chrono::milliseconds timeout) {
  Wait wait(clock, clock.now() + timeout, Wait::Interrupts::further_stop);
  try {
    streaming().end(wait);
    const Rows rows = select(stream->connection(), confirmed_query(options.slot), wait,
                             "asking the slot where it stands");
    if (!rows.empty()) return rows.lsn(0, "confirmed_flush_lsn");
  } catch (const SessionFailure& error) {
    spdlog::warn("slot {}: its last position can't be learnt: {}", options.slot, error.what());
  } catch (const SqlError& error) {
    spdlog::warn("slot {}: its last position can't be learnt: {}", options.slot, error.what());
  }
  return std::nullopt;
}

ReplicationSource::ReplicationSource(Options options, const outbox::MappingOptions& mapping,
                                     const outbox::Router& router, relay::Clock& clock,
                                     relay::PositionRecall* recall)
    : impl_(std::make_unique<Impl>(std::move(options), mapping, router, clock, recall)) {}

ReplicationSource::~ReplicationSource() = default;

relay::StreamStart ReplicationSource::open(Lsn confirmed) {
  close();
  return impl_->open(confirmed);
}

void ReplicationSource::watch(std::vector<pollfd>& fds, bool reading) {
  impl_->streaming().watch(fds, reading);
  impl_->probe.watch(fds);
}

void ReplicationSource::receive(bool reading) {
  impl_->probe.advance(reading);
  impl_->streaming().receive(reading);
}

std::optional<std::string_view> ReplicationSource::next() {
  return impl_->streaming().next();
}

void ReplicationSource::send_status(const pgoutput::StandbyStatus& status) {
  impl_->store(status.flushed);
  impl_->streaming().send_status(status);
  impl_->memory.confirmed = std::max(impl_->memory.confirmed, status.flushed);
}

bool ReplicationSource::server_stopping() const {
  return impl_->probe.server_stopping();
}

std::optional<Lsn> ReplicationSource::finish(std::chrono::milliseconds timeout) {
  return impl_->finish(timeout);
}

void ReplicationSource::close() noexcept {
  impl_->probe.stop();
  impl_->stream.reset();
}

std::optional<SlotHealth> ReplicationSource::slot_health() const {
  return impl_->probe.health();
}

}  // namespace walpost::postgres
