#include "bench/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bench/measured.h"

namespace walpost::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string line_of(const std::string& text, const std::string& begin) {
  const std::size_t from = text.find("\n" + begin);
  return from == std::string::npos ? ""
                                   : text.substr(from + 1, text.find('\n', from + 1) - from - 1);
}

TEST(ReportTest, ARatioComparesTheRunsOfOnePair) {
  EXPECT_THAT(ratios(measured().drains[0], "walpost"), ElementsAre(0.5, 1.0));
}

TEST(ReportTest, CpuTimeIsComparedUserAndSystemTogether) {
  DrainCase drains = measured().drains[0];
  drains.runs[0].user = 2;
  drains.runs[0].system = 3;
  drains.runs[1].user = 3;
  drains.runs[1].system = 1;
  drains.runs.resize(2);
  EXPECT_THAT(cpu_ratios(drains, "walpost"), ElementsAre(0.8));
}

TEST(ReportTest, APairThatIsNotCompleteHasNoRatio) {
  DrainCase drains = measured().drains[0];
  drains.runs.pop_back();
  EXPECT_THAT(ratios(drains, "walpost"), ElementsAre(0.5));
}

TEST(ReportTest, ALineHasMedianAndSpreadAndCostsARow) {
  EXPECT_THAT(line_of(report(measured()), "walpost"),
              MatchesRegex("walpost +7,500 \\(5,000-10,000\\) +0.75 +2.0\\+1.0 +2.0 +0.25 +- +-"));
}

TEST(ReportTest, WhatCouldNotBeMeasuredIsADash) {
  EXPECT_THAT(line_of(report(measured()), "pg_recvlogical"), MatchesRegex(".* - +- +- +-"));
}

TEST(ReportTest, WhatWasSkippedIsSaid) {
  EXPECT_THAT(report(measured()), HasSubstr("no time was left for:\n  shape: 10 keys\n"));
}

TEST(ReportTest, ACaseWithoutRunsIsLeftOut) {
  Results results = measured();
  results.drains[0].runs.clear();
  EXPECT_THAT(report(results), ::testing::Not(HasSubstr("one-row transactions")));
  EXPECT_TRUE(to_json(results)["drains"][0]["tools"]["walpost"]["ratio"].is_null());
}

TEST(ReportTest, JsonHasEveryRunAndTheSummary) {
  const nlohmann::json drains = to_json(measured())["drains"][0];
  EXPECT_EQ(drains["runs"].size(), 4U);
  EXPECT_EQ(drains["runs"][1]["peak_kib"], 2048);
  EXPECT_TRUE(drains["runs"][0]["peak_kib"].is_null());
  EXPECT_EQ(drains["tools"]["walpost"]["ratio"]["median"], 0.75);
  EXPECT_EQ(drains["tools"]["walpost"]["rows_per_second"]["most"], 10000);
  EXPECT_EQ(drains["tools"]["walpost"]["system_calls_per_row"], 0.25);
  EXPECT_TRUE(drains["tools"]["pg_recvlogical"]["system_calls_per_row"].is_null());
}

TEST(ReportTest, JsonNamesTheMachineAndWhatWasSkipped) {
  const nlohmann::json all = to_json(measured());
  EXPECT_EQ(all["machine"]["cpu"], "a processor");
  EXPECT_EQ(all["latencies"][0]["milliseconds"]["p99.9"], 3);
  EXPECT_EQ(all["skipped"][0], "shape: 10 keys");
  EXPECT_TRUE(all["start_milliseconds"].is_null());
}

}  // namespace
}  // namespace walpost::bench
