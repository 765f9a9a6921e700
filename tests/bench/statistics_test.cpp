#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <numeric>

namespace walpost::bench {
namespace {

// The examples of Wikipedia's article "Percentile", of the nearest-rank method.
TEST(StatisticsTest, APercentileIsTheNearestRankOfAShortList) {
  const std::vector<double> scores{15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(scores, 5), 15);
  EXPECT_EQ(percentile(scores, 30), 20);
  EXPECT_EQ(percentile(scores, 40), 20);
  EXPECT_EQ(percentile(scores, 50), 35);
  EXPECT_EQ(percentile(scores, 100), 50);
}

TEST(StatisticsTest, APercentileIsAlwaysAValueOfTheList) {
  const std::vector<double> even{3, 6, 7, 8, 8, 10, 13, 15, 16, 20};
  EXPECT_EQ(percentile(even, 25), 7);
  EXPECT_EQ(percentile(even, 50), 8);
  EXPECT_EQ(percentile(even, 75), 15);
  EXPECT_EQ(percentile(even, 100), 20);
  const std::vector<double> odd{3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20};
  EXPECT_EQ(percentile(odd, 25), 7);
  EXPECT_EQ(percentile(odd, 50), 9);
  EXPECT_EQ(percentile(odd, 75), 15);
  EXPECT_EQ(percentile(odd, 100), 20);
}

// As PostgreSQL's percentile_disc(0.999) over generate_series(1, n) says.
TEST(StatisticsTest, ARankThatIsWholeIsNotRoundedUp) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(percentile(values, 99.9), 999);
  values.push_back(1001);
  EXPECT_EQ(percentile(values, 99.9), 1000);
  EXPECT_EQ(percentile({7}, 99.9), 7);
}

// Of Python's documentation of the module statistics.
TEST(StatisticsTest, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  EXPECT_EQ(median({1, 3, 5}), 3);
  EXPECT_EQ(median({7, 1, 5, 3}), 4);
  EXPECT_EQ(mean({1, 2, 3, 4, 4}), 2.8);
}

TEST(StatisticsTest, ASpreadNamesBothEnds) {
  const Spread all = spread({0.9, 0.7, 0.8});
  EXPECT_EQ(all.least, 0.7);
  EXPECT_EQ(all.median, 0.8);
  EXPECT_EQ(all.most, 0.9);
}

}  // namespace
}  // namespace walpost::bench
