// What walpost's pure parts cost: CPU time and allocations a row, without PostgreSQL or Kafka.
// Takes Google Benchmark's arguments. On a busy machine the times mean little; the allocations are
// exact.
//
//   walpost_micro [--benchmark_filter=REGEX] [--benchmark_out=FILE --benchmark_out_format=json]
//
// Exits 1 if anything that a row passes through allocated once its scratch space had grown, or if a
// row wasn't handled as it should be.
#include <benchmark/benchmark.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro_measure.h"

namespace {

using walpost::micro::allocations;
using walpost::micro::allocations_a_row;

/// Prints as usual, and keeps what is wrong.
class Judge final : public benchmark::ConsoleReporter {
 public:
  Judge() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) judge(run);
  }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  void judge(const Run& run) {
    const std::string name = run.benchmark_name();
    if (run.error_occurred) faults_.push_back(name + ": " + run.error_message);
    const auto found = run.counters.find(allocations_a_row);
    if (found == run.counters.end() || found->second.value == 0) return;
    faults_.push_back(name + ": allocates in steady state, " +
                      std::to_string(found->second.value * 1e6) + " times in a million rows");
  }

  std::vector<std::string> faults_;
};

/// Else every zero below would mean nothing.
bool is_counting() {
  const std::size_t before = allocations();
  auto made = std::make_unique<int>(1);
  benchmark::DoNotOptimize(made);
  return allocations() == before + 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (!is_counting()) {
    std::cerr << "walpost_micro: allocations aren't counted; is another malloc preloaded?\n";
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Judge judge;
  if (benchmark::RunSpecifiedBenchmarks(&judge) == 0) return 1;
  for (const std::string& fault : judge.faults()) std::cerr << "walpost_micro: " << fault << "\n";
  return judge.faults().empty() ? 0 : 1;
}
