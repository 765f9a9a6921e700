#include <nlohmann/json.hpp>

#include "bench/report.h"
#include "bench/statistics.h"

namespace walpost::bench {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json to_json(const Spread& values) {
  return {{"least", values.least}, {"median", values.median}, {"most", values.most}};
}

json to_json(const Typical& milliseconds) {
  return {{"mean", milliseconds.mean}, {"median", milliseconds.median}};
}

json to_json(const Run& run) {
  return {{"tool", run.tool},
          {"seconds", run.seconds},
          {"user_seconds", run.user},
          {"system_seconds", run.system},
          {"peak_kib", or_null(run.peak_kib)},
          {"postgres_cpu_seconds", or_null(run.postgres)},
          {"broker_cpu_seconds", or_null(run.broker)}};
}

json summary_of(const DrainCase& drains, const std::string& tool) {
  std::vector<double> rates;
  for (const Run& run : runs_of(drains, tool))
    rates.push_back(static_cast<double>(drains.rows) / run.seconds);
  json summary{{"rows_per_second", rates.empty() ? json() : to_json(spread(rates))},
               {"system_calls_per_row", nullptr}};
  const std::vector<double> pairs = ratios(drains, tool);
  summary["ratio"] = pairs.empty() ? json() : to_json(spread(pairs));
  for (const SystemCalls& calls : drains.system_calls)
    if (calls.tool == tool) summary["system_calls_per_row"] = or_null(calls.per_row);
  return summary;
}

json to_json(const DrainCase& drains) {
  json result{{"suite", drains.suite},
              {"name", drains.name},
              {"rows", drains.rows},
              {"runs", json::array()},
              {"tools", json::object()}};
  for (const Run& run : drains.runs) result["runs"].push_back(to_json(run));
  for (const std::string& tool : drains.tools) result["tools"][tool] = summary_of(drains, tool);
  return result;
}

json to_json(const LatencyCase& latency) {
  json result{{"suite", latency.suite},
              {"name", latency.name},
              {"wanted_per_second", latency.wanted_per_second},
              {"per_second", latency.per_second},
              {"events", latency.events},
              {"milliseconds",
               {{"p50", latency.p50},
                {"p99", latency.p99},
                {"p99.9", latency.p999},
                {"max", latency.most}}},
              {"cores_busy", latency.busy},
              {"parts", json::array()}};
  for (const LatencyParts& parts : latency.parts)
    result["parts"].push_back({{"stamp", parts.stamp},
                               {"commit", to_json(parts.commit)},
                               {"sent_to_stamp", to_json(parts.to_stamp)},
                               {"stamp_to_received", to_json(parts.from_stamp)},
                               {"sent_to_received", to_json(parts.to_consumer)}});
  return result;
}

json to_json(const Machine& machine) {
  return {{"cpu", machine.cpu},         {"cores", machine.cores},
          {"kernel", machine.kernel},   {"postgresql", machine.postgres},
          {"kafka", machine.kafka},     {"librdkafka", machine.librdkafka},
          {"build_type", machine.build}};
}

}  // namespace

json to_json(const Results& results) {
  json result{{"machine", to_json(results.machine)},
              {"drains", json::array()},
              {"latencies", json::array()},
              {"start_milliseconds", nullptr},
              {"skipped", results.skipped}};
  for (const DrainCase& drains : results.drains) result["drains"].push_back(to_json(drains));
  for (const LatencyCase& latency : results.latencies)
    result["latencies"].push_back(to_json(latency));
  if (results.start) result["start_milliseconds"] = results.start->milliseconds;
  return result;
}

}  // namespace walpost::bench
