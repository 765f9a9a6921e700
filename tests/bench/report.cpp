#include "bench/report.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "bench/statistics.h"
#include "bench/table.h"

namespace walpost::bench {
namespace {

constexpr double micro = 1e6;

std::vector<double> collect(const std::vector<Run>& runs,
                            const std::function<std::optional<double>(const Run&)>& of) {
  std::vector<double> values;
  for (const Run& run : runs)
    if (const auto value = of(run)) values.push_back(*value);
  return values;
}

std::string median_or_dash(const std::vector<double>& values, int digits) {
  return values.empty() ? "-" : decimal(median(values), digits);
}

std::string rate_cell(const std::vector<double>& rates) {
  const Spread all = spread(rates);
  if (rates.size() == 1) return grouped(all.median);
  return grouped(all.median) + " (" + grouped(all.least) + "-" + grouped(all.most) + ")";
}

std::string calls_cell(const DrainCase& drains, const std::string& tool) {
  for (const SystemCalls& calls : drains.system_calls)
    if (calls.tool == tool && calls.per_row) return decimal(*calls.per_row, 2);
  return "-";
}

std::vector<std::string> cells_of(const DrainCase& drains, const std::string& tool) {
  const double rows = static_cast<double>(drains.rows);
  const std::vector<Run> runs = runs_of(drains, tool);
  const auto per_row = [&](const std::function<std::optional<double>(const Run&)>& seconds) {
    return median_or_dash(collect(runs,
                                  [&](const Run& run) -> std::optional<double> {
                                    const auto value = seconds(run);
                                    if (!value) return std::nullopt;
                                    return *value / rows * micro;
                                  }),
                          1);
  };
  const std::string user = per_row([](const Run& run) { return run.user; });
  const std::string system = per_row([](const Run& run) { return run.system; });
  return {tool,
          rate_cell(collect(runs, [&](const Run& run) { return rows / run.seconds; })),
          drains.tools.size() > 1 ? median_or_dash(ratios(drains, tool), 2) : "-",
          user + "+" + system,
          median_or_dash(collect(runs,
                                 [](const Run& run) -> std::optional<double> {
                                   if (!run.peak_kib) return std::nullopt;
                                   return static_cast<double>(*run.peak_kib) / 1024;
                                 }),
                         1),
          calls_cell(drains, tool),
          per_row([](const Run& run) { return run.postgres; }),
          per_row([](const Run& run) { return run.broker; })};
}

std::string drain_tables(const Results& results, const std::string& suite) {
  std::string text;
  for (const DrainCase& drains : results.drains) {
    if (drains.suite != suite || drains.runs.empty()) continue;
    text += "\n" + drains.suite + ": " + drains.name + "\n";
    Table table({"", "rows/s", "ratio", "CPU µs/row user+sys", "RSS MiB", "calls/row",
                 "PostgreSQL µs/row", "broker µs/row"});
    for (const std::string& tool : drains.tools) table.add(cells_of(drains, tool));
    text += table.text();
  }
  return text;
}

/// One line a case: of cases that differ in one thing.
std::string drain_lines(const Results& results, const std::string& suite) {
  Table table({suite, "tool", "rows/s", "ratio", "CPU µs/row user+sys", "RSS MiB",
               "PostgreSQL µs/row", "broker µs/row"});
  bool any = false;
  for (const DrainCase& drains : results.drains) {
    if (drains.suite != suite || drains.runs.empty()) continue;
    any = true;
    for (const std::string& tool : drains.tools) {
      const auto cells = cells_of(drains, tool);
      table.add({tool == drains.tools.front() ? drains.name : "", tool, cells[1], cells[2],
                 cells[3], cells[4], cells[6], cells[7]});
    }
  }
  return any ? "\n" + table.text() : "";
}

std::string latency_table(const Results& results) {
  if (results.latencies.empty()) return "";
  Table table({"latency, ms", "achieved/s", "events", "p50", "p99", "p99.9", "max", "cores busy"});
  for (const LatencyCase& latency : results.latencies)
    table.add({latency.name, grouped(latency.per_second),
               grouped(static_cast<double>(latency.events)), decimal(latency.p50, 1),
               decimal(latency.p99, 1), decimal(latency.p999, 1), decimal(latency.most, 1),
               decimal(latency.busy * 100, 0) + " %"});
  return "\n" + table.text();
}

const LatencyParts* parts_of(const LatencyCase& latency, const std::string& stamp) {
  for (const LatencyParts& parts : latency.parts)
    if (parts.stamp == stamp) return &parts;
  return nullptr;
}

std::string split_table(const Results& results) {
  Table table({"medians, ms", "commit", "sent to handed over", "handed over to appended",
               "appended to received"});
  bool any = false;
  for (const LatencyCase& latency : results.latencies) {
    const LatencyParts* handed = parts_of(latency, "CreateTime");
    const LatencyParts* appended = parts_of(latency, "LogAppendTime");
    if (handed == nullptr || appended == nullptr) continue;
    any = true;
    table.add({latency.name, decimal((handed->commit.median + appended->commit.median) / 2, 2),
               decimal(handed->to_stamp.median, 2),
               decimal(handed->from_stamp.median - appended->from_stamp.median, 2),
               decimal(appended->from_stamp.median, 2)});
  }
  return any ? "\n" + table.text() : "";
}

std::string start_line(const Results& results) {
  if (!results.start) return "";
  const Spread all = spread(results.start->milliseconds);
  return "\nstart: exec to the first record received, ms: " + decimal(all.median, 0) + " (" +
         decimal(all.least, 0) + "-" + decimal(all.most, 0) + ")\n";
}

std::string heading(const Machine& machine) {
  std::ostringstream text;
  text << machine.cpu << ", " << machine.cores << " cores; " << machine.kernel << "\nPostgreSQL "
       << machine.postgres << ", Kafka " << machine.kafka << ", librdkafka " << machine.librdkafka
       << "; " << machine.build << "\n";
  return text.str();
}

}  // namespace

std::string report(const Results& results) {
  std::string text = heading(results.machine);
  for (const char* suite : {"gate", "drain", "peers"}) text += drain_tables(results, suite);
  text += latency_table(results) + split_table(results) + start_line(results);
  for (const char* suite : {"guarantee", "shape", "growth"}) text += drain_lines(results, suite);
  if (!results.skipped.empty()) text += "\nno time was left for:\n";
  for (const std::string& skipped : results.skipped) text += "  " + skipped + "\n";
  return text;
}

}  // namespace walpost::bench
