#include "bench/chart_data.h"

#include <gtest/gtest.h>

#include "bench/measured.h"

namespace walpost::bench {
namespace {

TEST(ChartDataTest, DrainsHaveOneColumnATool) {
  EXPECT_EQ(drain_data(measured()),
            "\"case\" \"pg_recvlogical\" \"walpost\"\n"
            "\"one-row transactions\" 10000.000000 7500.000000\n");
}

TEST(ChartDataTest, AToolThatACaseLacksIsAQuestionMark) {
  Results results = measured();
  results.drains.push_back(results.drains[0]);
  results.drains[1].name = "other";
  results.drains[1].tools.emplace_back("peer");
  EXPECT_NE(drain_data(results).find("10000.000000 7500.000000 ?\n"), std::string::npos);
}

TEST(ChartDataTest, LatenciesAreByRate) {
  EXPECT_EQ(latency_data(measured()),
            "\"rate\" \"p50\" \"p99\" \"p99.9\" \"max\"\n\"10/s\" 1 2 3 4\n");
}

TEST(ChartDataTest, ASuiteThatDidNotRunHasNoChart) {
  EXPECT_EQ(shape_data(measured()), "");
  EXPECT_EQ(drain_data(Results{}), "");
  EXPECT_EQ(latency_data(Results{}), "");
}

}  // namespace
}  // namespace walpost::bench
