#pragma once

#include <optional>
#include <string>
#include <vector>

namespace walpost::bench {

/// One tool's drain of one backlog. Seconds of the wall clock or of CPU time.
struct Run {
  std::string tool;
  double seconds = 0;  ///< from exec until everything is read, or published and confirmed
  double user = 0;     ///< of the tool, until it has ended
  double system = 0;
  std::optional<long> peak_kib;    ///< resident
  std::optional<double> postgres;  ///< CPU of PostgreSQL's processes; nothing: not on this machine
  std::optional<double> broker;
};

/// Nothing where neither perf nor strace may count. Counting slows a tool down, so it has a run of
/// its own.
struct SystemCalls {
  std::string tool;
  std::optional<double> per_row;
};

/// Drains of one backlog, interleaved: the n-th run of each tool belongs together.
struct DrainCase {
  std::string suite;
  std::string name;
  long rows = 0;
  std::vector<std::string> tools;  ///< ratios are to the first
  std::vector<Run> runs;           ///< in the order they were made
  std::vector<SystemCalls> system_calls;
};

/// Milliseconds.
struct Typical {
  double mean = 0;
  double median = 0;
};

/// Where an event's time goes, as far as one kind of record timestamp tells.
struct LatencyParts {
  std::string stamp;    ///< CreateTime: handed over by walpost; LogAppendTime: by the broker
  Typical commit;       ///< INSERT sent -> its commit returned to the writer
  Typical to_stamp;     ///< INSERT sent -> the record's timestamp
  Typical from_stamp;   ///< the record's timestamp -> received
  Typical to_consumer;  ///< INSERT sent -> received
};

struct LatencyCase {
  std::string suite;
  std::string name;
  int wanted_per_second = 0;
  double per_second = 0;  ///< of the measured window
  std::size_t events = 0;
  double p50 = 0;  ///< milliseconds, INSERT sent -> record received, of both passes together
  double p99 = 0;
  double p999 = 0;
  double most = 0;
  double busy = 0;  ///< share of all cores that was at work, 0 to 1
  std::vector<LatencyParts> parts;
};

/// Of walpost: exec -> the first record of a waiting backlog received.
struct StartCase {
  std::vector<double> milliseconds;
};

struct Machine {
  std::string cpu;
  long cores = 0;
  std::string kernel;
  std::string postgres;
  std::string kafka;
  std::string librdkafka;
  std::string build;
};

struct Results {
  Machine machine;
  std::vector<DrainCase> drains;
  std::vector<LatencyCase> latencies;
  std::optional<StartCase> start;
  std::vector<std::string> skipped;  ///< what there was no time for
};

/// The runs of one tool, in order.
[[nodiscard]] std::vector<Run> runs_of(const DrainCase& drains, const std::string& tool);
/// Of each pair: how much faster the tool is than the case's first one. Above 1 is faster.
[[nodiscard]] std::vector<double> ratios(const DrainCase& drains, const std::string& tool);
/// Of each pair: how much more CPU time the tool took than the case's first one. Above 1 is more.
[[nodiscard]] std::vector<double> cpu_ratios(const DrainCase& drains, const std::string& tool);

}  // namespace walpost::bench
