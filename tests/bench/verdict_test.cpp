#include "bench/verdict.h"

#include <gtest/gtest.h>

namespace walpost::bench {
namespace {

/// `reaching` ratios of the least, 0.9, and `below` smaller ones.
std::vector<double> pairs(std::size_t reaching, std::size_t below) {
  std::vector<double> ratios(reaching, 0.9);
  ratios.insert(ratios.end(), below, 0.89);
  return ratios;
}

Verdict of(std::size_t reaching, std::size_t below) {
  return judge(pairs(reaching, below), 0.9);
}

TEST(VerdictTest, AMedianThatReachesTheLeastPasses) {
  EXPECT_EQ(of(2, 1), Verdict::passed);
  EXPECT_EQ(of(1, 0), Verdict::passed);
  EXPECT_EQ(judge({0.5, 0.91, 2}, 0.9), Verdict::passed);
}

// Tables of the sign test, one-sided, 2 %: of 6 pairs none, of 9 one, of 12 two may differ.
TEST(VerdictTest, FailsWhereChanceWouldHardlyGiveSoFew) {
  EXPECT_EQ(of(0, 6), Verdict::failed);   // 1/64
  EXPECT_EQ(of(1, 8), Verdict::failed);   // 10/512
  EXPECT_EQ(of(2, 10), Verdict::failed);  // 79/4096
}

TEST(VerdictTest, FewPairsBelowSayLittle) {
  EXPECT_EQ(of(0, 3), Verdict::undecided);  // 1/8
  EXPECT_EQ(of(0, 5), Verdict::undecided);  // 1/32
  EXPECT_EQ(of(1, 5), Verdict::undecided);  // 7/64
  EXPECT_EQ(of(2, 7), Verdict::undecided);  // 46/512
  EXPECT_EQ(of(3, 9), Verdict::undecided);  // 299/4096
}

// Six pairs of one program in one run of CI: chance, as the run before had given 1.03.
TEST(VerdictTest, PairsAsWideAsACiMachinesDoNotFail) {
  EXPECT_EQ(judge({0.80, 0.80, 0.91, 1.07, 0.76, 0.74}, 0.9), Verdict::undecided);
}

}  // namespace
}  // namespace walpost::bench
