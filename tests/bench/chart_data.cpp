#include "bench/chart_data.h"

#include <algorithm>
#include <sstream>

#include "bench/statistics.h"

namespace walpost::bench {
namespace {

std::string quoted(const std::string& name) {
  return '"' + name + '"';
}

std::vector<const DrainCase*> cases_of(const Results& results, const std::string& suite) {
  std::vector<const DrainCase*> cases;
  for (const DrainCase& drains : results.drains)
    if (drains.suite == suite && !drains.runs.empty()) cases.push_back(&drains);
  return cases;
}

std::vector<std::string> tools_of(const std::vector<const DrainCase*>& cases) {
  std::vector<std::string> tools;
  for (const DrainCase* drains : cases)
    for (const std::string& tool : drains->tools)
      if (std::find(tools.begin(), tools.end(), tool) == tools.end()) tools.push_back(tool);
  return tools;
}

std::string rate_of(const DrainCase& drains, const std::string& tool) {
  std::vector<double> rates;
  for (const Run& run : runs_of(drains, tool))
    rates.push_back(static_cast<double>(drains.rows) / run.seconds);
  return rates.empty() ? "?" : std::to_string(median(rates));
}

}  // namespace

std::string drain_data(const Results& results) {
  const auto cases = cases_of(results, "drain");
  if (cases.empty()) return "";
  const auto tools = tools_of(cases);
  std::ostringstream text;
  text << quoted("case");
  for (const std::string& tool : tools) text << ' ' << quoted(tool);
  text << '\n';
  for (const DrainCase* drains : cases) {
    text << quoted(drains->name);
    for (const std::string& tool : tools) text << ' ' << rate_of(*drains, tool);
    text << '\n';
  }
  return text.str();
}

std::string latency_data(const Results& results) {
  std::ostringstream lines;
  for (const LatencyCase& latency : results.latencies)
    if (latency.suite == "latency")
      lines << quoted(latency.name) << ' ' << latency.p50 << ' ' << latency.p99 << ' '
            << latency.p999 << ' ' << latency.most << '\n';
  if (lines.str().empty()) return "";
  return R"("rate" "p50" "p99" "p99.9" "max")"
         "\n" +
         lines.str();
}

std::string shape_data(const Results& results) {
  std::ostringstream lines;
  for (const DrainCase* drains : cases_of(results, "shape")) {
    const std::vector<double> pairs = ratios(*drains, "walpost");
    if (!pairs.empty()) lines << quoted(drains->name) << ' ' << median(pairs) << '\n';
  }
  if (lines.str().empty()) return "";
  return R"("case" "walpost")"
         "\n" +
         lines.str();
}

}  // namespace walpost::bench
