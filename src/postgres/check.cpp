#include <spdlog/fmt/fmt.h>

#include "connect.h"
#include "ddl.h"
#include "dead_letter_session.h"
#include "preflight.h"
#include "query.h"
#include "session.h"
#include "walpost/postgres/setup.h"

namespace walpost::postgres {

namespace {

using Level = relay::Finding::Level;

Catalogue inspect(const Options& options, Names& names, Wait& wait) {
  const Handle walsender = connect(replication_conninfo(options), names, wait);
  const Handle session = connect(same_server(options, walsender.get()), names, wait);
  try {
    fix_settings(walsender.get(), wait);
    fix_settings(session.get(), wait);
    return read_catalogue(session.get(), walsender.get(), options.slot, options.publication, wait);
  } catch (const SqlError& error) {
    throw failure(Phase::inspecting, error.error(), names);
  }
}

// What the next run will know of the earlier ones.
Memory memory_of(const Options& options, relay::PositionRecall* recall,
                 const SystemIdentity& server) {
  Memory memory;
  if (options.position_file)
    remember(PositionFile(*options.position_file).load(options.slot), *options.position_file,
             memory);
  if (recall != nullptr)
    if (const auto found = recall->recall(server, options.slot).position)
      remember(*found, recall->place(), recall->forgetting(server, options.slot), memory);
  return memory;
}

relay::Finding check_dead_letters(const Options& options, relay::Clock& clock) {
  const std::string subject = "table walpost.dead_letter";
  try {
    DeadLetterSession session(options, clock);
    const Rows rights = session.ask(dead_letter_rights_query);
    if (rights.flag(0, "enough")) {
      return {Level::pass, subject, "there, and this role may write to it", ""};
    }
    throw failure(Phase::dead_letters, {"42501", "this role lacks rights on its tables", {}},
                  {options.slot, options.publication, rights.string(0, "role"), {}});
  } catch (const relay::SessionFailure& error) {
    return {Level::fail, subject, error.what(), error.mend()};
  }
}

}  // namespace

std::vector<relay::Finding> check(const Options& options, const outbox::MappingOptions& mapping,
                                  const outbox::Router& router, bool dead_letters,
                                  relay::PositionRecall* recall) {
  CommandClock clock;
  Names names{options.slot, options.publication, {}, {}};
  Findings findings;
  try {
    Wait wait(clock, clock.now() + attempt_timeout(options, replication_conninfo(options)),
              Wait::Interrupts::any_stop);
    const Catalogue catalogue = inspect(options, names, wait);
    findings.push_back(
        {Level::pass, "connection",
         fmt::format("role {} may replicate from database {}", names.role, names.database), ""});
    const Memory memory = memory_of(options, recall, catalogue.server.identity);
    const Findings found = preflight(catalogue, memory, options, {mapping, router});
    findings.insert(findings.end(), found.begin(), found.end());
    if (dead_letters) findings.push_back(check_dead_letters(options, clock));
  } catch (const relay::SessionFailure& error) {
    const std::string mend =
        error.mend().empty() ? "try again when the server answers" : error.mend();
    findings.push_back({Level::fail, "connection", error.what(), mend});
  }
  return findings;
}

}  // namespace walpost::postgres
