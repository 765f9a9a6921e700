#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "postgres/preflight.h"

namespace walpost::postgres {
namespace {

using pgoutput::Lsn;
using relay::Finding;
using testing::HasSubstr;

/// A server and a slot to which nothing can be objected.
Catalogue good() {
  Catalogue catalogue;
  catalogue.server = {
      180004, {"7000", "1"}, Lsn{0x5000}, "app", "logical", false, std::chrono::milliseconds(60000),
      1024};
  SlotFacts slot;
  slot.plugin = "pgoutput";
  slot.database = "app";
  slot.wal_status = "reserved";
  slot.confirmed = Lsn{0x3000};
  catalogue.slot = slot;
  return catalogue;
}

Findings findings_of(const Catalogue& catalogue, const Memory& memory = {}) {
  Findings findings;
  check_server(catalogue.server, memory, findings);
  check_slot(catalogue, memory, Options{}, findings);
  return findings;
}

std::vector<Finding> of_level(const Findings& findings, Finding::Level level) {
  std::vector<Finding> chosen;
  for (const Finding& finding : findings) {
    if (finding.level == level) chosen.push_back(finding);
  }
  return chosen;
}

struct Rule {
  const char* name;
  Finding::Level level;
  std::function<void(Catalogue&, Memory&)> arrange;
  const char* what;  ///< a part of what is found
  const char* mend;  ///< a part of the mend
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << rule.name;
}

class SlotRulesTest : public testing::TestWithParam<Rule> {};

TEST_P(SlotRulesTest, FindsExactlyTheOneFault) {
  Catalogue catalogue = good();
  Memory memory;
  GetParam().arrange(catalogue, memory);
  const auto found = of_level(findings_of(catalogue, memory), GetParam().level);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found.front().what, HasSubstr(GetParam().what));
  EXPECT_THAT(found.front().mend, HasSubstr(GetParam().mend));
  if (GetParam().level == Finding::Level::warn) {
    EXPECT_FALSE(refusal(findings_of(catalogue, memory)));
  }
}

constexpr auto fail = Finding::Level::fail;
constexpr auto warn = Finding::Level::warn;
using C = Catalogue;
using M = Memory;

INSTANTIATE_TEST_SUITE_P(
    Rules, SlotRulesTest,
    testing::Values(
        Rule{"missing", fail, [](C& c, M&) { c.slot.reset(); }, "does not exist", "walpost init"},
        Rule{"vanished", fail, [](C& c, M& m) { c.slot.reset(), m.confirmed = Lsn{0x10}; },
             "it is gone; it stood at 0/10, which this process confirmed", "who dropped it"},
        Rule{"physical", fail, [](C& c, M&) { c.slot->logical = false; }, "physical",
             "postgres.slot"},
        Rule{"other plugin", fail, [](C& c, M&) { c.slot->plugin = "test_decoding"; },
             "test_decoding", "pg_drop_replication_slot('walpost')"},
        Rule{"other database", fail, [](C& c, M&) { c.slot->database = "shop"; }, "shop",
             "postgres.url"},
        Rule{"temporary", fail, [](C& c, M&) { c.slot->temporary = true; }, "temporary",
             "postgres.slot"},
        Rule{"two_phase", fail, [](C& c, M&) { c.slot->two_phase = true; }, "two_phase",
             "postgres.slot"},
        Rule{"copy on a standby", fail,
             [](C& c, M&) { c.slot->synced = c.server.in_recovery = true; }, "standby", "primary"},
        Rule{"lost", fail, [](C& c, M&) { c.slot->wal_status = "lost"; },
             "lost (WAL removed): the server no longer has the WAL after 0/3000",
             "SELECT pg_drop_replication_slot('walpost'); then walpost init"},
        Rule{"invalidated", fail, [](C& c, M&) { c.slot->invalidation_reason = "idle_timeout"; },
             "idle_timeout", "from the outbox table"},
        Rule{"unreserved", warn, [](C& c, M&) { c.slot->wal_status = "unreserved"; },
             "no longer reserved", "max_slot_wal_keep_size"},
        Rule{"over-confirmed", fail, [](C& c, M&) { c.slot->confirmed = Lsn{0x5001}; },
             "0/5001 lies beyond the end of the WAL at 0/5000", "from the outbox table"},
        Rule{"moved by another", fail, [](C&, M& m) { m.confirmed = Lsn{0x2000}; },
             "from 0/2000, which this process confirmed, to 0/3000; 4096 bytes", "compare"},
        Rule{"moved while no process ran", fail,
             [](C&, M& m) {
               m.confirmed = Lsn{0x2000}, m.stored_in = "/var/lib/walpost/position",
               m.forget = "delete /var/lib/walpost/position";
             },
             "from 0/2000, kept in /var/lib/walpost/position, to 0/3000; 4096 bytes",
             "delete /var/lib/walpost/position and start walpost again"},
        Rule{"restored to an earlier state", fail, [](C&, M& m) { m.confirmed = Lsn{0x6000}; },
             "WAL ends at 0/5000, 4096 bytes before 0/6000, which this process confirmed",
             "start walpost again"},
        Rule{"another system", fail,
             [](C&, M& m) {
               m.identity = SystemIdentity{"6999", "1"};
             },
             "system 7000 timeline 1, formerly 6999 timeline 1", "start walpost again"},
        Rule{"promoted", fail,
             [](C&, M& m) {
               m.identity = SystemIdentity{"7000", "0"};
             },
             "formerly 7000 timeline 0", "failover slots"},
        Rule{"wal_level", fail, [](C& c, M&) { c.server.wal_level = "replica"; }, "replica",
             "ALTER SYSTEM SET wal_level = 'logical'"},
        Rule{"too old", fail, [](C& c, M&) { c.server.version = 120020; }, "13 is needed",
             "upgrade"},
        Rule{"faulty minor release", warn, [](C& c, M&) { c.server.version = 150013; },
             "can lose changes", "15.14"},
        Rule{"no limit of WAL", warn, [](C& c, M&) { c.server.slot_keep_mebibytes = -1; },
             "until the disk is full", "ALTER SYSTEM SET max_slot_wal_keep_size"}));

TEST(SlotRules, NothingIsObjectedToAGoodSlot) {
  const Findings findings = findings_of(good());
  EXPECT_EQ(of_level(findings, Finding::Level::pass).size(), findings.size());
  EXPECT_FALSE(refusal(findings));
}

TEST(SlotRules, OwnPositionAndALaterOneAreFine) {
  for (const std::uint64_t confirmed : {0x3000u, 0x4000u, 0x5000u}) {
    Memory memory;
    memory.confirmed = Lsn{confirmed};
    memory.identity = SystemIdentity{"7000", "1"};
    EXPECT_FALSE(refusal(findings_of(good(), memory))) << confirmed;
  }
}

TEST(SlotRules, SlotThatAnotherInstanceHoldsOrHeldMayMove) {
  Memory memory;
  memory.confirmed = Lsn{0x2000};
  Catalogue held = good();
  held.slot->active = true;
  EXPECT_FALSE(refusal(findings_of(held, memory)));
  memory.lease_was_elsewhere = true;
  EXPECT_FALSE(refusal(findings_of(good(), memory)));
}

TEST(SlotRules, EveryFailureIsNamedAtOnceWithItsMend) {
  Catalogue catalogue = good();
  catalogue.server.wal_level = "replica";
  catalogue.slot.reset();
  const auto failure = refusal(findings_of(catalogue));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), relay::FailureKind::refused);
  EXPECT_THAT(failure->what(), testing::AllOf(HasSubstr("(1) wal_level"), HasSubstr("(2) slot")));
  EXPECT_THAT(failure->mend(), testing::AllOf(HasSubstr("(1) ALTER"), HasSubstr("(2) walpost")));
}

}  // namespace
}  // namespace walpost::postgres
