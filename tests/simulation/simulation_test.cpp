// The campaign of many seeds is walpost_simulate (scripts/simulate); these are about the simulation
// itself: a proof by simulation is worth what its oracle and its replay are worth.
#include "simulation/simulation.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "simulation/world.h"

namespace walpost::simulation {
namespace {

TEST(Simulation, TheSameSeedTellsTheSameStory) {
  spdlog::set_level(spdlog::level::off);
  EXPECT_EQ(simulate(7, true).story, simulate(7, true).story);
  EXPECT_NE(simulate(7, true).story, simulate(8, true).story);
}

TEST(Simulation, SeedsMeetEveryKindOfTrouble) {
  spdlog::set_level(spdlog::level::off);
  Verdict total;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Verdict verdict = simulate(seed);
    total.events += verdict.events;
    total.faults += verdict.faults;
    total.restarts += verdict.restarts;
    total.duplicates += verdict.duplicates;
  }
  EXPECT_GT(total.events, 5000u);
  EXPECT_GT(total.faults, 300u);
  EXPECT_GT(total.restarts, 100u);
  EXPECT_GT(total.duplicates, 100u);
}

class OracleTest : public ::testing::Test {
 protected:
  /// A world with one transaction of three rows of one key.
  OracleTest() : world(1, false) {
    world.transactions.push_back({Lsn{0x2000}, Lsn{0x2010}, 0, 3});
    world.rows.resize(3);
    world.wal_end = Lsn{0x2010};
  }
  World world;
};

TEST_F(OracleTest, SeesAnEventThatWasLost) {
  world.append(0);
  world.append(1);
  world.check_end(Lsn{0x2010});
  EXPECT_EQ(world.violations(), std::vector<std::string>{"row 2 was lost"});
}

TEST_F(OracleTest, SeesAnEventThatOvertookAnother) {
  world.append(0);
  world.append(2);
  EXPECT_EQ(world.violations().size(), 1u);
}

TEST_F(OracleTest, AcceptsARepeatInOrder) {
  for (const RowNumber row : {0u, 1u, 0u, 1u, 2u}) world.append(row);
  world.check_flush(Lsn{0x2010}, Lsn{}, Lsn{0x2010});
  world.check_end(Lsn{0x2010});
  EXPECT_TRUE(world.violations().empty());
}

TEST_F(OracleTest, SeesAConfirmationBeforeTheLastRecordIsVisible) {
  world.append(0);
  world.append(1);
  world.check_flush(Lsn{0x2000}, Lsn{},
                    Lsn{0x2010});  // the commit's own LSN confirms nothing of it
  EXPECT_TRUE(world.violations().empty());
  world.check_flush(Lsn{0x2010}, Lsn{}, Lsn{0x2010});
  EXPECT_EQ(world.violations().size(), 1u);
}

TEST_F(OracleTest, SeesAConfirmationThatGoesBackOrPassesWhatWasReceived) {
  world.check_flush(Lsn{0x1000}, Lsn{0x1001}, Lsn{0x1001});
  world.check_flush(Lsn{0x1002}, Lsn{0x1001}, Lsn{0x1001});
  EXPECT_EQ(world.violations().size(), 2u);
}

TEST_F(OracleTest, SeesAnEventThatOvertookAParkedOneOfItsKey) {
  world.rows[0].letter = Row::Letter::parked;
  world.append(1);
  EXPECT_EQ(world.violations().size(), 1u);
}

TEST_F(OracleTest, AcceptsADeadLetterAsTheEndOfItsEvent) {
  world.rows[0].letter = Row::Letter::dead;
  world.append(1);
  world.append(2);
  world.check_flush(Lsn{0x2010}, Lsn{}, Lsn{0x2010});
  world.check_end(Lsn{0x2010});
  EXPECT_TRUE(world.violations().empty());
}

TEST_F(OracleTest, SeesAParkedEventThatWasNeverPublishedOrWasTwice) {
  world.append(1);
  world.append(2);
  EXPECT_EQ(world.violations().size(), 1u);  // row 0 is missing in front of them
  world.rows[0].letter = Row::Letter::parked;
  world.check_end(Lsn{0x2010});
  EXPECT_EQ(world.violations().size(), 2u);
  world.rows[2].letter = Row::Letter::parked;
  world.append_letter(2);
  EXPECT_EQ(world.violations().size(), 3u);
}

TEST_F(OracleTest, SeesARestThatIsShortOfTheEnd) {
  for (const RowNumber row : {0u, 1u, 2u}) world.append(row);
  world.check_end(Lsn{0x2000});
  EXPECT_EQ(world.violations().size(), 1u);
}

TEST_F(OracleTest, SeesACleanStopThatLeavesDuplicatesBehind) {
  world.append(0);
  world.check_clean_stop(Lsn{0x2000});
  EXPECT_EQ(world.violations().size(), 1u);
}

}  // namespace
}  // namespace walpost::simulation
