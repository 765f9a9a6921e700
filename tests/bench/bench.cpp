// Measures walpost beside others on real PostgreSQL and Kafka. See tests/bench/README.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/charts.h"
#include "bench/drain.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/suites.h"

namespace walpost::bench {

bool Bench::begin(const std::string& suite, const std::string& name, double expected_seconds) {
  if (name.find(options.only) == std::string::npos) return false;
  if (budget.seconds_left() < expected_seconds) {
    results.skipped.push_back(suite + ": " + name);
    return false;
  }
  std::fprintf(stderr, "%s: %s\n", suite.c_str(), name.c_str());
  return true;
}

void Bench::end() const {
  std::fprintf(stderr, "  %.0f s left\n", budget.seconds_left());
}

namespace {

struct Arguments {
  std::vector<std::string> suites;
  double minutes = 10;
  double elapsed_seconds = 0;
  bool tcp = false;
  std::string json_file;
  std::string chart_folder;
  ServicesOptions services;
  SuiteOptions options;
};

struct Suite {
  const char* name;
  void (*measure)(Bench&);
};

/// In the order they are measured; what comes last is left out first when time runs out.
constexpr Suite suites[] = {{"drain", drain_suite},         {"peers", peers_suite},
                            {"latency", latency_suite},     {"start", start_suite},
                            {"guarantee", guarantee_suite}, {"shape", shape_suite},
                            {"growth", growth_suite}};

constexpr long warm_up_rows = 300000;

bool measure_suites(const Arguments& arguments, Bench& bench) {
  const auto chosen = [&](const std::string& name) {
    const auto& names = arguments.suites;
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  warm_up(bench.services, warm_up_rows);
  bench.end();
  bool passed = true;
  if (chosen("gate")) passed = gate_suite(bench);
  for (const Suite& suite : suites)
    if (arguments.suites.empty() || chosen(suite.name)) suite.measure(bench);
  return passed;
}

void write_json(const std::string& file, const Results& results) {
  std::ofstream out(file);
  out << to_json(results).dump(2) << "\n";
  if (!out.flush()) throw std::runtime_error("can't write " + file);
}

/// 0, or 1 when the gate or a tool has failed; what was measured until then is shown all the same.
int run(const Arguments& arguments) {
  Budget budget(arguments.minutes * 60 - arguments.elapsed_seconds);
  Services services(arguments.services);
  Results results;
  results.machine = describe_machine(services);
  Bench bench{services, budget, arguments.options, results};
  bool passed = false;
  try {
    passed = measure_suites(arguments, bench);
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << "\n";
  }
  std::cout << report(results);
  if (!arguments.json_file.empty()) write_json(arguments.json_file, results);
  if (!arguments.chart_folder.empty()) draw_charts(results, arguments.chart_folder);
  return passed && !budget.interrupted() ? 0 : 1;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names{"gate"};
  for (const Suite& suite : suites) names.emplace_back(suite.name);
  return names;
}

}  // namespace
}  // namespace walpost::bench

int main(int argc, char** argv) {
  using namespace walpost::bench;
  CLI::App app("Measures walpost beside others on real PostgreSQL and Kafka.");
  Arguments arguments;
  app.add_option("--suite", arguments.suites, "only this suite; may be repeated")
      ->check(CLI::IsMember(suite_names()));
  app.add_option("--minutes", arguments.minutes, "what there is no time for is skipped, and named");
  app.add_option("--elapsed", arguments.elapsed_seconds, "seconds of these that are gone already");
  app.add_option("--runs", arguments.options.runs, "of each tool in a drain");
  app.add_option("--rows", arguments.options.rows, "the largest transaction of suite growth");
  app.add_option("--only", arguments.options.only, "only cases with these words in their name");
  app.add_option("--peers", arguments.options.peers, "folder of what peers/fetch has fetched");
  app.add_flag("--tcp", arguments.tcp, "over TCP what else goes over a Unix socket");
  app.add_option("--json", arguments.json_file, "write all runs to this file");
  app.add_option("--charts", arguments.chart_folder, "draw charts into this folder, as SVG");
  app.add_option("--postgres", arguments.services.postgres, "conninfo of a server that runs");
  app.add_option("--kafka", arguments.services.kafka, "HOST:PORT of brokers that run");
  CLI11_PARSE(app, argc, argv);
  if (arguments.tcp) arguments.options.transport = Transport::tcp;
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << "\n";
    return 1;
  }
}
