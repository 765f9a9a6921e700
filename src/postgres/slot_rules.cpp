#include <spdlog/fmt/fmt.h>
#include <array>

#include "preflight.h"
#include "quoting.h"

namespace walpost::postgres {

namespace {

using Level = relay::Finding::Level;

constexpr int oldest_major = 13;

// The first minor release of each major that has the two repairs of mid-2025: lost changes when a
// publication is altered under open transactions, and what that repair broke.
struct Repaired {
  int major;
  int minor;
};
constexpr std::array<Repaired, 5> repaired{{{13, 22}, {14, 19}, {15, 14}, {16, 10}, {17, 6}}};

std::string known_position(const Memory& memory) {
  return memory.confirmed.to_string() + (memory.stored_in.empty()
                                             ? ", which this process confirmed"
                                             : ", kept in " + memory.stored_in);
}

// The last step of every mend: what is kept isn't forgotten by itself.
std::string go_on(const Memory& memory) {
  return (memory.forget.empty() ? "start walpost again"
                                : memory.forget + " and start walpost again") +
         " to go on from the slot";
}

class SlotRules {
 public:
  SlotRules(const Catalogue& catalogue, const Memory& memory, const Options& options,
            Findings& findings)
      : server_(catalogue.server),
        slot_(*catalogue.slot),
        memory_(memory),
        name_(options.slot),
        subject_("slot " + options.slot),
        findings_(findings) {}

  void check() {
    const std::size_t before = findings_.size();
    kind();
    health();
    position();
    if (findings_.size() == before) {
      findings_.push_back({Level::pass, subject_,
                           fmt::format("confirmed to {}, wal_status {}{}",
                                       slot_.confirmed.to_string(), slot_.wal_status, holder()),
                           ""});
    }
  }

 private:
  void fail(std::string what, std::string mend) {
    findings_.push_back({Level::fail, subject_, std::move(what), std::move(mend)});
  }

  [[nodiscard]] std::string holder() const {
    return slot_.active ? fmt::format(", in use by server process {}", slot_.active_pid) : "";
  }

  void kind() {
    const std::string other = "name another slot in postgres.slot, or " + slot_renewal(name_);
    if (!slot_.logical) return fail("it is a physical slot", other);
    if (slot_.plugin != "pgoutput") {
      fail(fmt::format("its output plugin is {}, not pgoutput", slot_.plugin), other);
    }
    if (slot_.database != server_.database) {
      fail(fmt::format("it belongs to database {}, the connection is to {}", slot_.database,
                       server_.database),
           fmt::format("connect to database {} in postgres.url, or name another slot in "
                       "postgres.slot",
                       slot_.database));
    }
    if (slot_.temporary) fail("it is temporary: its position is gone with its session", other);
    if (slot_.two_phase) {
      fail("it has two_phase on: transactions would be sent before they are committed", other);
    }
    if (slot_.synced && server_.in_recovery) {
      fail("it is a standby's synchronised copy, which can't be read before promotion",
           "connect to the primary in postgres.url");
    }
  }

  void health() {
    if (slot_.wal_status == "lost" || !slot_.invalidation_reason.empty()) {
      const std::string reason =
          slot_.invalidation_reason.empty() ? "WAL removed" : slot_.invalidation_reason;
      return fail(fmt::format("it is lost ({}): the server no longer has the WAL after {}, events "
                              "committed since then can't be read from it",
                              reason, slot_.confirmed.to_string()),
                  "publish the rows committed since then from the outbox table, then " +
                      slot_renewal(name_) +
                      "; to keep this from happening again raise max_slot_wal_keep_size");
    }
    if (slot_.wal_status == "unreserved") {
      findings_.push_back({Level::warn, subject_,
                           "its WAL is no longer reserved: the next checkpoint may lose the slot",
                           "let walpost catch up now, or ALTER SYSTEM SET max_slot_wal_keep_size "
                           "to more and SELECT pg_reload_conf()"});
    }
  }

  void position() {
    if (slot_.confirmed > server_.wal_end) {
      fail(fmt::format("its confirmed position {} lies beyond the end of the WAL at {}: events up "
                       "to there would be skipped",
                       slot_.confirmed.to_string(), server_.wal_end.to_string()),
           "publish the rows committed since it was moved from the outbox table, then " +
               slot_renewal(name_));
    }
    if (!memory_.confirmed.valid()) return;
    if (memory_.confirmed > server_.wal_end) {
      fail(fmt::format("the server's WAL ends at {}, {} bytes before {}: it was restored to an "
                       "earlier state",
                       server_.wal_end.to_string(), memory_.confirmed.value - server_.wal_end.value,
                       known_position(memory_)),
           "find out which events were lost with that state and are in Kafka nevertheless; then " +
               go_on(memory_));
    }
    if (slot_.confirmed > memory_.confirmed && !slot_.active && !memory_.lease_was_elsewhere) {
      fail(fmt::format(
               "it was moved by somebody else, or made anew: from {}, to {}; {} bytes of WAL "
               "were skipped",
               known_position(memory_), slot_.confirmed.to_string(),
               slot_.confirmed.value - memory_.confirmed.value),
           "compare the outbox table with the topics for that time and publish what is missing; "
           "then " +
               go_on(memory_));
    }
  }

  const ServerFacts& server_;
  const SlotFacts& slot_;
  const Memory& memory_;
  const std::string& name_;
  std::string subject_;
  Findings& findings_;
};

void check_version(const ServerFacts& server, Findings& findings) {
  const int major = server.version / 10000;
  const int minor = server.version % 10000;
  const std::string subject = fmt::format("PostgreSQL {}.{}", major, minor);
  if (major < oldest_major) {
    findings.push_back({Level::fail, subject, fmt::format("too old: {} is needed", oldest_major),
                        "upgrade PostgreSQL"});
    return;
  }
  for (const Repaired& fixed : repaired) {
    if (fixed.major == major && minor < fixed.minor) {
      findings.push_back(
          {Level::warn, subject,
           "it can lose changes of transactions that are open while a publication is altered",
           fmt::format("update to {}.{} or later", fixed.major, fixed.minor)});
      return;
    }
  }
  findings.push_back({Level::pass, subject, fmt::format("database {}", server.database), ""});
}

void check_identity(const ServerFacts& server, const Memory& memory, Findings& findings) {
  if (!memory.identity || *memory.identity == server.identity) return;
  findings.push_back(
      {Level::fail, "server",
       fmt::format("it is not the one of before: system {} timeline {}, formerly {} timeline {}; a "
                   "position in one's WAL means nothing in the other's",
                   server.identity.identifier, server.identity.timeline,
                   memory.identity->identifier, memory.identity->timeline),
       fmt::format("make sure that this server has every event up to {}, which was published last, "
                   "and that its slot was synchronised before the promotion (PostgreSQL 17 "
                   "failover slots); then {}",
                   memory.confirmed.to_string(), go_on(memory))});
}

}  // namespace

std::string slot_renewal(const std::string& slot) {
  return "SELECT pg_drop_replication_slot(" + quote_literal(slot) + "); then walpost init";
}

void check_server(const ServerFacts& server, const Memory& memory, Findings& findings) {
  check_version(server, findings);
  check_identity(server, memory, findings);
  if (server.wal_level != "logical") {
    findings.push_back({Level::fail, "wal_level",
                        fmt::format("it is {}: changes can't be decoded", server.wal_level),
                        "ALTER SYSTEM SET wal_level = 'logical'; then restart PostgreSQL"});
  }
  if (server.slot_keep_mebibytes < 0) {
    findings.push_back(
        {Level::warn, "max_slot_wal_keep_size",
         "there is no limit: while walpost is down, WAL is kept until the disk is full",
         "ALTER SYSTEM SET max_slot_wal_keep_size = '50GB' (less than the free disk space) and "
         "SELECT pg_reload_conf(); watch walpost_slot_safe_bytes"});
  } else {
    findings.push_back({Level::pass, "max_slot_wal_keep_size",
                        fmt::format("{} MB", server.slot_keep_mebibytes), ""});
  }
}

void check_slot(const Catalogue& catalogue, const Memory& memory, const Options& options,
                Findings& findings) {
  if (catalogue.slot) {
    SlotRules(catalogue, memory, options, findings).check();
    return;
  }
  const bool had_one = memory.confirmed.valid();
  findings.push_back(
      {Level::fail, "slot " + options.slot,
       had_one ? "it is gone; it stood at " + known_position(memory) : "it does not exist",
       had_one ? "find out who dropped it; publish the rows committed since then from the outbox "
                 "table; then walpost init and " +
                     go_on(memory)
               : "walpost init, or name the right one in postgres.slot"});
}

}  // namespace walpost::postgres
