#include "bench/latency.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "bench/backlog.h"
#include "bench/process_cost.h"
#include "bench/statistics.h"
#include "bench/tools.h"
#include "bench/writers.h"
#include "support/kafka_reader.h"

namespace walpost::bench {
namespace {

using test::Deadline;
using test::KafkaReader;
using test::milliseconds;
using test::Process;
using test::RecordView;

constexpr int partitions = 6;
constexpr double setup_seconds = 3;
constexpr double warm_up_seconds = 12;
constexpr milliseconds start_limit{20000};
constexpr milliseconds stop_limit{40000};
constexpr milliseconds arrival_limit{60000};  // of the last event, after it was written

/// What a consumer sees of one pass.
struct Pass {
  std::vector<double> milliseconds;  ///< INSERT sent -> received
  std::vector<double> to_stamp;      ///< INSERT sent -> the record's timestamp
  std::vector<double> from_stamp;    ///< the record's timestamp -> received
  std::vector<double> commits;       ///< INSERT sent -> commit returned
  std::size_t received = 0;          ///< the warm-up's too
  double per_second = 0;
  double busy = 0;
};

double ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

class Observation {
 public:
  Observation(Pass& pass, Writers& writers) : pass_(pass), writers_(writers) {}

  void record(const RecordView& record) {
    const std::int64_t now = monotonic_ns();
    const std::int64_t sent = Writers::sent_ns(record.value.value());
    ++pass_.received;
    if (sent < writers_.measured_from_ns()) return;
    if (pass_.milliseconds.empty()) cores_ = core_time();
    pass_.milliseconds.push_back(ms(now - sent));
    // A stamp is a whole millisecond that has begun: on average half of one earlier than it was.
    constexpr double half = 0.5;
    const double stamp = static_cast<double>(record.timestamp.count()) + half;
    pass_.to_stamp.push_back(stamp - ms(sent + wall_clock_ahead_));
    pass_.from_stamp.push_back(ms(now + wall_clock_ahead_) - stamp);
  }

  /// Until every event has arrived; says how busy the cores were while there was writing.
  void run(KafkaReader& reader) {
    const auto on_record = [this](const RecordView& view) { record(view); };
    const milliseconds look{50};
    while (!writers_.done()) reader.each(SIZE_MAX, Deadline::in(look), on_record);
    pass_.busy = busy_share(cores_, core_time());
    reader.each(writers_.written() - pass_.received, Deadline::in(arrival_limit), on_record);
    if (pass_.received != writers_.written())
      throw std::runtime_error("latency: " + std::to_string(writers_.written()) +
                               " events, but received " + std::to_string(pass_.received));
    const double window = ms(writers_.measured_to_ns() - writers_.measured_from_ns()) / 1000;
    pass_.per_second = static_cast<double>(pass_.milliseconds.size()) / window;
    pass_.commits = writers_.commit_ms();
  }

 private:
  Pass& pass_;
  Writers& writers_;
  CoreTime cores_;
  std::int64_t wall_clock_ahead_ = wall_clock_ahead_ns();
};

Pass observe(Services& services, const LatencyPlan& plan, const std::string& topic) {
  Backlog nothing(services, Shape{});
  const std::string slot = nothing.new_slot();
  Process process(walpost("walpost", {"delivery.guarantee=" + plan.guarantee})
                      .command({.conninfo = services.conninfo(plan.transport),
                                .slot = slot,
                                .end = {},
                                .bootstrap = services.bootstrap(),
                                .topic = topic}));
  if (!process.wait_for_line("streaming from slot", Deadline::in(start_limit)))
    throw std::runtime_error("walpost isn't streaming: " + process.standard_error());
  KafkaReader reader(services.bootstrap(), topic);
  Pass pass;
  {
    Writers writers({.conninfo = services.conninfo(plan.transport),
                     .per_second = plan.per_second,
                     .seconds = plan.seconds});
    Observation(pass, writers).run(reader);
  }
  process.signal(SIGTERM);
  if (process.wait(Deadline::in(stop_limit)) != test::exited(0))
    throw std::runtime_error("walpost didn't stop cleanly: " + process.standard_error());
  return pass;
}

/// librdkafka may never end a consumer that was reading a topic while it was deleted
/// (confluentinc/librdkafka#4362): only when it has ended is the topic.
Pass measure_pass(Services& services, const LatencyPlan& plan, const std::string& stamp) {
  const std::string topic = test::KafkaBroker::unique_topic("walpost-bench");
  services.create_topic(topic, partitions, {{"message.timestamp.type", stamp}});
  Pass pass = observe(services, plan, topic);
  services.delete_topic(topic);
  return pass;
}

Typical typical(const std::vector<double>& values) {
  return {mean(values), median(values)};
}

/// Drains have the broker compile what it does with many records at once, not with few.
void warm_up(Bench& bench, Transport transport) {
  if (std::exchange(bench.warm_for_single_events, true)) return;
  const LatencyPlan plan{.suite = "",
                         .name = "warm-up",
                         .per_second = 2000,
                         .seconds = warm_up_seconds,
                         .transport = transport};
  static_cast<void>(measure_pass(bench.services, plan, "CreateTime"));
}

LatencyParts parts_of(const Pass& pass, const std::string& stamp) {
  return {stamp, typical(pass.commits), typical(pass.to_stamp), typical(pass.from_stamp),
          typical(pass.milliseconds)};
}

}  // namespace

void measure(Bench& bench, const LatencyPlan& plan) {
  const double warming = bench.warm_for_single_events ? 0 : warm_up_seconds + setup_seconds;
  if (!bench.begin(plan.suite, plan.name, warming + 2 * (plan.seconds + setup_seconds))) return;
  warm_up(bench, plan.transport);
  LatencyCase result;
  result.suite = plan.suite;
  result.name = plan.name;
  result.wanted_per_second = plan.per_second;
  std::vector<double> all;
  for (const char* stamp : {"CreateTime", "LogAppendTime"}) {
    const Pass pass = measure_pass(bench.services, plan, stamp);
    all.insert(all.end(), pass.milliseconds.begin(), pass.milliseconds.end());
    result.per_second += pass.per_second / 2;
    result.busy += pass.busy / 2;
    result.parts.push_back(parts_of(pass, stamp));
  }
  std::sort(all.begin(), all.end());
  result.events = all.size();
  result.p50 = percentile(all, 50);
  result.p99 = percentile(all, 99);
  result.p999 = percentile(all, 99.9);
  result.most = all.back();
  bench.results.latencies.push_back(std::move(result));
  bench.end();
}

}  // namespace walpost::bench
