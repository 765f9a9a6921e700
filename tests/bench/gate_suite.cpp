// The gate of CI.
#include <cstdio>

#include "bench/drain.h"
#include "bench/statistics.h"
#include "bench/suites.h"
#include "bench/verdict.h"

namespace walpost::bench {
namespace {

constexpr long rows = 300000;
constexpr std::size_t pairs_at_a_time = 3;
constexpr std::size_t most_pairs = 12;
constexpr double least_rate = 0.9;
// The machine's mood moves both sides of this ratio, so that its median hardly moves: 0.84 to 0.99
// over all runs on record.
constexpr double most_cpu = 1.1;

void print(const char* what, const std::vector<double>& pairs) {
  std::printf("gate: %s", what);
  for (const double pair : pairs) std::printf(" %.2f", pair);
  std::printf("\n");
}

const char* words(Verdict verdict) {
  if (verdict == Verdict::failed) return "FAILED";
  return verdict == Verdict::passed ? "passed" : "too changeable to tell, so passed";
}

}  // namespace

bool gate_suite(Bench& bench) {
  Shape shape;
  shape.rows = rows;
  const DrainPlan plan{.suite = "gate",
                       .name = "one-row transactions, Unix socket",
                       .shape = shape,
                       .tools = {pg_recvlogical(), walpost()}};
  DrainCase result{plan.suite, plan.name, rows, {"pg_recvlogical", "walpost"}, {}, {}};
  Drains drains(bench.services, plan);
  std::vector<double> rates;
  Verdict verdict = Verdict::undecided;
  while (verdict == Verdict::undecided && rates.size() < most_pairs) {
    for (std::size_t pair = 0; pair < pairs_at_a_time; ++pair)
      for (const Tool& tool : plan.tools) result.runs.push_back(drains.drain(tool));
    rates = ratios(result, "walpost");
    verdict = judge(rates, least_rate);
  }
  drains.check_records();
  bench.results.drains.push_back(result);
  const std::vector<double> cpu = cpu_ratios(result, "walpost");
  print("rate of each pair", rates);
  print("CPU time of each pair", cpu);
  const bool lean = median(cpu) <= most_cpu;
  std::printf(
      "gate: walpost drains %.2f times as fast as pg_recvlogical reads, at least %.1f: %s\n",
      median(rates), least_rate, words(verdict));
  std::printf("gate: walpost takes %.2f of its CPU time, at most %.1f: %s\n", median(cpu), most_cpu,
              lean ? "passed" : "FAILED");
  return lean && verdict != Verdict::failed;
}

}  // namespace walpost::bench
