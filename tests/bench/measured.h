#pragma once

#include "bench/results.h"

namespace walpost::bench {

/// Results for tests: two pairs of drains of 1,000 rows, and one rate.
inline Results measured() {
  const auto run = [](const char* tool, double seconds) {
    Run result;
    result.tool = tool;
    result.seconds = seconds;
    result.user = 0.002;
    result.system = 0.001;
    return result;
  };
  DrainCase drains;
  drains.suite = "drain";
  drains.name = "one-row transactions";
  drains.rows = 1000;
  drains.tools = {"pg_recvlogical", "walpost"};
  drains.runs = {run("pg_recvlogical", 0.1), run("walpost", 0.2), run("pg_recvlogical", 0.1),
                 run("walpost", 0.1)};
  drains.runs[1].peak_kib = 2048;
  drains.system_calls = {{"pg_recvlogical", std::nullopt}, {"walpost", 0.25}};
  LatencyCase latency;
  latency.suite = "latency";
  latency.name = "10/s";
  latency.events = 100;
  latency.p50 = 1;
  latency.p99 = 2;
  latency.p999 = 3;
  latency.most = 4;
  Results results;
  results.machine.cpu = "a processor";
  results.drains = {drains};
  results.latencies = {latency};
  results.skipped = {"shape: 10 keys"};
  return results;
}

}  // namespace walpost::bench
