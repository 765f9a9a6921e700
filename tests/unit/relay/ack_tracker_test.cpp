#include "walpost/relay/ack_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

namespace walpost::relay {
namespace {

using pgoutput::Lsn;

class AckTrackerTest : public ::testing::Test {
 protected:
  AckTrackerTest() { tracker.reset(Lsn{10}); }

  /// A whole transaction from `commit` to `end`; returns its tokens.
  std::vector<Token> transaction(std::uint64_t commit, std::uint64_t end, int records) {
    tracker.begin(Lsn{commit}, {});
    std::vector<Token> tokens;
    tokens.reserve(static_cast<std::size_t>(records));
    for (int i = 0; i < records; ++i) tokens.push_back(tracker.add_record(3));
    tracker.commit(Lsn{end});
    return tokens;
  }

  AckTracker tracker;
};

TEST_F(AckTrackerTest, StartsAtThePositionTheStreamStartsFrom) {
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  EXPECT_EQ(tracker.received(), Lsn{10});
  EXPECT_TRUE(tracker.idle());
}

TEST_F(AckTrackerTest, SealedIsWhereThePrefixEndsOnceAllIsDelivered) {
  EXPECT_EQ(tracker.sealed(), tracker.confirmable());
  tracker.begin(Lsn{0x110}, {});
  const Token first = tracker.add_record(0);
  EXPECT_EQ(tracker.sealed(), tracker.confirmable());
  tracker.commit(Lsn{0x120});
  EXPECT_EQ(tracker.sealed(), Lsn{0x120});
  tracker.begin(Lsn{0x130}, {});
  tracker.add_record(0);
  EXPECT_EQ(tracker.sealed(), Lsn{0x120});
  tracker.delivered(first);
  EXPECT_EQ(tracker.sealed(), Lsn{0x120});
  EXPECT_EQ(tracker.confirmable(), Lsn{0x120});
}

TEST_F(AckTrackerTest, ConfirmsTheEndLsnAndNotTheCommitLsn) {
  const auto tokens = transaction(20, 30, 1);
  tracker.delivered(tokens[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
}

TEST_F(AckTrackerTest, ConfirmsNothingUntilTheLastRecordIsDelivered) {
  const auto tokens = transaction(20, 30, 3);
  tracker.delivered(tokens[2]);
  tracker.delivered(tokens[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.delivered(tokens[1]);
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
}

TEST_F(AckTrackerTest, ALaterTransactionWaitsForAnEarlierOne) {
  const auto first = transaction(20, 30, 1);
  const auto second = transaction(40, 50, 1);
  tracker.delivered(second[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.delivered(first[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{50});
}

TEST_F(AckTrackerTest, AnOpenTransactionIsNotConfirmedThoughAllItsRecordsAreDelivered) {
  tracker.begin(Lsn{20}, {});
  tracker.delivered(tracker.add_record(0));
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.commit(Lsn{30});
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
}

TEST_F(AckTrackerTest, AKeepaliveWhenIdleIsConfirmedAtOnce) {
  tracker.keepalive(Lsn{99});
  EXPECT_EQ(tracker.confirmable(), Lsn{99});
}

TEST_F(AckTrackerTest, AKeepaliveWaitsForWhatWasReceivedBeforeIt) {
  const auto tokens = transaction(20, 30, 1);
  tracker.keepalive(Lsn{99});
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  EXPECT_EQ(tracker.received(), Lsn{99});
  tracker.delivered(tokens[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{99});
}

TEST_F(AckTrackerTest, AKeepaliveInsideATransactionConfirmsNothing) {
  tracker.begin(Lsn{200}, {});
  const Token token = tracker.add_record(0);
  tracker.keepalive(Lsn{150});
  tracker.delivered(token);
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.commit(Lsn{210});
  EXPECT_EQ(tracker.confirmable(), Lsn{210});
}

TEST_F(AckTrackerTest, AKeepaliveBehindOurPositionChangesNothing) {
  const auto tokens = transaction(20, 30, 1);
  tracker.delivered(tokens[0]);
  tracker.keepalive(Lsn{15});
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
  EXPECT_EQ(tracker.received(), Lsn{30});
}

TEST_F(AckTrackerTest, ATransactionWithoutRecordsCountsAsAKeepalive) {
  transaction(20, 30, 0);
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
  const auto tokens = transaction(40, 50, 1);
  transaction(60, 70, 0);
  EXPECT_EQ(tracker.confirmable(), Lsn{30});
  tracker.delivered(tokens[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{70});
}

TEST_F(AckTrackerTest, TokensNameTheOrdinalAndTheTable) {
  const auto tokens = transaction(20, 30, 2);
  EXPECT_EQ(tokens[0].ordinal(), 0u);
  EXPECT_EQ(tokens[1].ordinal(), 1u);
  EXPECT_EQ(tokens[1].table(), 3);
  EXPECT_EQ(Token::unpack(tokens[1].packed()), tokens[1]);
  ASSERT_TRUE(tracker.find(tokens[1]));
  EXPECT_EQ(tracker.find(tokens[1])->commit_lsn, Lsn{20});
}

TEST_F(AckTrackerTest, ASecondReportForOneRecordIsAnError) {
  const auto tokens = transaction(20, 30, 2);
  tracker.delivered(tokens[0]);
  tracker.delivered(tokens[0]);
  // The last record of the transaction is gone, and a third report can't be accounted for.
  EXPECT_THROW(tracker.delivered(tokens[1]), std::logic_error);
}

TEST_F(AckTrackerTest, CallsOutOfOrderAreErrors) {
  EXPECT_THROW(tracker.commit(Lsn{30}), std::logic_error);
  EXPECT_THROW(static_cast<void>(tracker.add_record(0)), std::logic_error);
  EXPECT_THROW(tracker.delivered(Token(5, 0, 0)), std::logic_error);
  tracker.begin(Lsn{20}, {});
  EXPECT_THROW(tracker.begin(Lsn{21}, {}), std::logic_error);
  static_cast<void>(tracker.add_record(0));
  EXPECT_THROW(tracker.commit(Lsn{20}), std::logic_error);
}

TEST(AckTrackerNumbersTest, TransactionNumbersWrapAround) {
  AckTracker tracker(Token::transaction_modulus - 3);
  tracker.reset(Lsn{10});
  std::vector<Token> tokens;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    tracker.begin(Lsn{100 * i}, {});
    tokens.push_back(tracker.add_record(0));
    tracker.commit(Lsn{100 * i + 50});
  }
  for (std::size_t i = 5; i > 0; --i) tracker.delivered(tokens[i]);
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.delivered(tokens[0]);
  EXPECT_EQ(tracker.confirmable(), Lsn{650});
  EXPECT_TRUE(tracker.idle());
}

// Against the definition itself: the end of the longest prefix of items that are complete, where an
// item is a transaction or a keepalive in the order received.
class Oracle {
 public:
  struct Item {
    std::uint64_t end = 0;
    int outstanding = 0;
    bool sealed = false;
  };
  std::vector<Item> items;
  [[nodiscard]] Lsn confirmable(std::uint64_t start) const {
    std::uint64_t best = start;
    for (const Item& item : items) {
      if (!item.sealed || item.outstanding > 0) break;
      best = std::max(best, item.end);
    }
    return Lsn{best};
  }
};

TEST_F(AckTrackerTest, AgreesWithTheDefinitionOnRandomHistories) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    AckTracker subject;
    subject.reset(Lsn{10});
    Oracle oracle;
    std::vector<std::pair<Token, std::size_t>> in_flight;
    std::uint64_t lsn = 10;
    bool open = false;
    for (int step = 0; step < 200; ++step) {
      switch (random() % 5) {
        case 0:
          if (!open) {
            lsn += 10;
            subject.begin(Lsn{lsn}, {});
            oracle.items.push_back({});
            open = true;
          } else {
            lsn += 10;
            subject.commit(Lsn{lsn});
            oracle.items.back().end = lsn;
            oracle.items.back().sealed = true;
            open = false;
          }
          break;
        case 1:
        case 2:
          if (open) {
            in_flight.emplace_back(subject.add_record(0), oracle.items.size() - 1);
            ++oracle.items.back().outstanding;
          }
          break;
        case 3:
          // Inside a transaction its commit stands later in the WAL, so it says nothing new.
          if (!open) oracle.items.push_back({++lsn, 0, true});
          subject.keepalive(Lsn{lsn});
          break;
        case 4:
          if (!in_flight.empty()) {
            const std::size_t pick = random() % in_flight.size();
            subject.delivered(in_flight[pick].first);
            --oracle.items[in_flight[pick].second].outstanding;
            in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(pick));
          }
          break;
      }
      ASSERT_EQ(subject.confirmable(), oracle.confirmable(10))
          << "seed " << seed << " step " << step;
      ASSERT_LE(subject.confirmable(), subject.received());
    }
  }
}

TEST_F(AckTrackerTest, GrowsBeyondItsFirstCapacity) {
  std::vector<Token> tokens;
  for (std::uint64_t i = 1; i <= 5000; ++i)
    tokens.push_back(transaction(100 * i, 100 * i + 1, 1)[0]);
  for (auto token = tokens.rbegin(); token != tokens.rend() - 1; ++token) tracker.delivered(*token);
  EXPECT_EQ(tracker.confirmable(), Lsn{10});
  tracker.delivered(tokens.front());
  EXPECT_EQ(tracker.confirmable(), Lsn{500001});
}

}  // namespace
}  // namespace walpost::relay
