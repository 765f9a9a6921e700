// The suites that wait for single events.
#include <algorithm>
#include <stdexcept>

#include "bench/drain.h"
#include "bench/latency.h"
#include "bench/suites.h"
#include "bench/table.h"
#include "bench/writers.h"
#include "support/kafka_reader.h"

namespace walpost::bench {
namespace {

using test::Deadline;
using test::KafkaReader;
using test::milliseconds;
using test::Process;

LatencyPlan at_rate(const Bench& bench, const std::string& suite, int per_second, double seconds) {
  return {.suite = suite,
          .name = grouped(per_second) + "/s",
          .per_second = per_second,
          .seconds = seconds,
          .transport = bench.options.transport};
}

}  // namespace

void latency_suite(Bench& bench) {
  // A rare event needs longer until there are a hundred of them.
  for (const auto& [per_second, seconds] :
       {std::pair{10, 10.0}, {1000, 5.0}, {5000, 5.0}, {20000, 5.0}})
    measure(bench, at_rate(bench, "latency", per_second, seconds));
}

void guarantee_suite(Bench& bench) {
  constexpr long rows = 300000;
  constexpr int per_second = 1000;
  constexpr double seconds = 5;
  const std::string exactly_once = "exactly_once";
  Shape shape;
  shape.rows = rows;
  measure(bench, {.suite = "guarantee",
                  .name = grouped(rows) + " one-row transactions",
                  .shape = shape,
                  .tools = {walpost("at_least_once"),
                            walpost(exactly_once, {"delivery.guarantee=" + exactly_once})},
                  .runs = bench.options.runs,
                  .transport = bench.options.transport,
                  .transactions = true});
  LatencyPlan plan = at_rate(bench, "guarantee", per_second, seconds);
  for (const std::string& guarantee : {std::string("at_least_once"), exactly_once}) {
    plan.guarantee = guarantee;
    plan.name = grouped(per_second) + "/s, " + guarantee;
    measure(bench, plan);
  }
}

namespace {

constexpr std::size_t waiting_rows = 1000;

/// Milliseconds. The reader has taken everything that earlier starts have published.
double start_once(Services& services, Backlog& backlog, KafkaReader& reader,
                  const std::string& topic, Transport transport) {
  const std::string slot = backlog.new_slot();
  const Deadline deadline = Deadline::in(milliseconds(30000));
  const std::int64_t begin = monotonic_ns();
  Process process(walpost().command({.conninfo = services.conninfo(transport),
                                     .slot = slot,
                                     .end = backlog.end(),
                                     .bootstrap = services.bootstrap(),
                                     .topic = topic}));
  const std::size_t first = reader.each(1, deadline, [](const test::RecordView&) {});
  const std::int64_t end = monotonic_ns();
  const std::size_t rest = reader.each(waiting_rows - 1, deadline, [](const test::RecordView&) {});
  if (first + rest != waiting_rows)
    throw std::runtime_error("start: not every record arrived: " + process.standard_error());
  process.signal(SIGTERM);
  if (process.wait(deadline) != test::exited(0))
    throw std::runtime_error("walpost didn't stop cleanly: " + process.standard_error());
  backlog.drop_slot(slot);
  return static_cast<double>(end - begin) / 1e6;
}

constexpr int starts = 5;

std::vector<double> starts_into(Bench& bench, Backlog& backlog, const std::string& topic) {
  KafkaReader reader(bench.services.bootstrap(), topic);
  const auto start = [&] {
    return start_once(bench.services, backlog, reader, topic, bench.options.transport);
  };
  static_cast<void>(start());  // which also connects the reader
  std::vector<double> took(starts);
  std::generate(took.begin(), took.end(), start);
  return took;
}

}  // namespace

void start_suite(Bench& bench) {
  constexpr double enough_seconds = 10;
  if (!bench.begin("start", "exec to the first record", enough_seconds)) return;
  Shape shape;
  shape.rows = waiting_rows;
  Backlog backlog(bench.services, shape);
  const std::string topic = test::KafkaBroker::unique_topic("walpost-bench");
  bench.services.create_topic(topic, 1);
  bench.results.start = StartCase{starts_into(bench, backlog, topic)};
  if (bench.services.records_of(topic) != static_cast<long>(waiting_rows) * (starts + 1))
    throw std::runtime_error("start: the topic holds more than was published");
  bench.services.delete_topic(topic);
  bench.end();
}

}  // namespace walpost::bench
