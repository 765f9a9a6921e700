#include "bench/drain.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "bench/process_cost.h"
#include "support/kafka_reader.h"
#include "support/process.h"

namespace walpost::bench {
namespace {

using std::chrono::steady_clock;
using test::Deadline;
using test::KafkaBroker;
using test::milliseconds;
using test::Process;

constexpr int drain_limit_seconds = 180;
constexpr milliseconds start_limit{60000};
constexpr milliseconds stop_limit{40000};
constexpr milliseconds memory_pace{20};

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

/// What PostgreSQL and the broker spent between two moments.
struct ServiceCost {
  explicit ServiceCost(const Services& services)
      : postgres(services.postgres_cpu()), broker(services.broker_cpu()) {}
  std::optional<double> postgres;
  std::optional<double> broker;
};

std::optional<double> difference(std::optional<double> later, std::optional<double> earlier) {
  if (!later || !earlier) return std::nullopt;
  return *later - *earlier;
}

std::optional<long> peak_of(const Process& process) {
  try {
    return process.peak_resident_kib();
  } catch (const std::exception&) {
    return std::nullopt;  // it has just ended
  }
}

[[noreturn]] void fail(const Tool& tool, const Process& process, const std::string& what) {
  throw std::runtime_error(tool.name + " " + what + ": " + process.standard_output() +
                           process.standard_error());
}

void expect_clean_end(const Tool& tool, Process& process, Deadline deadline) {
  const auto status = process.wait(deadline);
  if (!status) fail(tool, process, "didn't end");
  if (*status != test::exited(0)) fail(tool, process, "failed");
}

/// Waits for the tool's own end, with an eye on its memory.
void await_end(const Tool& tool, Process& process, std::optional<long>& peak) {
  const Deadline deadline = Deadline::in(milliseconds(drain_limit_seconds * 1000));
  while (!process.wait(Deadline::in(memory_pace)) && !deadline.passed())
    if (const auto now = peak_of(process)) peak = now;
  expect_clean_end(tool, process, Deadline::in(milliseconds(0)));
}

void await_records(const Tool& tool, Process& process, const Services& services,
                   const std::string& topic, long count) {
  constexpr milliseconds pace{100};
  const bool published = test::eventually(
      [&] {
        if (!process.running()) fail(tool, process, "ended too early");
        return services.records_of(topic) >= count;
      },
      Deadline::in(milliseconds(drain_limit_seconds * 1000)), pace);
  if (!published) fail(tool, process, "has not published everything");
}

void await_confirmation(const Tool& tool, Process& process, Backlog& backlog,
                        const std::string& slot) {
  constexpr int look_seconds = 2;
  for (int waited = 0; !backlog.confirmed(slot, look_seconds); waited += look_seconds) {
    if (!process.running()) fail(tool, process, "ended too early");
    if (waited > drain_limit_seconds) fail(tool, process, "has not confirmed everything");
  }
}

/// One, or one for each aggregate type.
std::vector<std::string> topics_of(const DrainPlan& plan, const std::string& topic) {
  if (!plan.topic_per_type) return {topic};
  std::vector<std::string> topics;
  topics.reserve(static_cast<std::size_t>(plan.shape.types));
  for (int type = 0; type < plan.shape.types; ++type)
    topics.push_back(topic + "-type" + std::to_string(type));
  return topics;
}

long committed_records(Services& services, const std::string& topic) {
  test::KafkaReader reader(services.bootstrap(), topic);
  const Deadline deadline = Deadline::in(milliseconds(drain_limit_seconds * 1000));
  return static_cast<long>(reader.each_to_end(deadline, [](const test::RecordView&) {}));
}

}  // namespace

Drains::Drains(Services& services, const DrainPlan& plan)
    : services_(services),
      plan_(plan),
      topic_(KafkaBroker::unique_topic("walpost-bench")),
      backlog_(services, plan.shape) {
  for (const std::string& topic : topics_of(plan_, topic_))
    services_.create_topic(topic, plan_.partitions);
}

Drains::~Drains() {
  try {
    for (const std::string& topic : topics_of(plan_, topic_)) services_.delete_topic(topic);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a topic is left behind: %s\n", error.what());
  }
}

Job Drains::job_for(const std::string& slot) const {
  return {.conninfo = services_.conninfo(plan_.transport),
          .tcp = services_.has_both_transports() ? services_.tcp_address() : TcpAddress{},
          .slot = slot,
          .end = backlog_.end(),
          .bootstrap = services_.bootstrap(),
          .topic = topic_,
          .per_type_topic = plan_.topic_per_type};
}

/// Until the tool is through; what is left of it is its end.
void Drains::await(const Tool& tool, Process& process, const std::string& slot, Run& run) {
  switch (tool.ending) {
    case Ending::by_itself:
      return await_end(tool, process, run.peak_kib);
    case Ending::when_confirmed:
      await_confirmation(tool, process, backlog_, slot);
      break;
    case Ending::when_published:
      await_records(tool, process, services_, topic_, published_ + plan_.shape.rows);
      break;
  }
  run.peak_kib = peak_of(process);
}

void Drains::end(const Tool& tool, Process& process) {
  if (tool.ending == Ending::when_confirmed) {
    process.signal(SIGTERM);
    expect_clean_end(tool, process, Deadline::in(stop_limit));
  }
  process.signal(SIGKILL);
  process.wait(Deadline::in(stop_limit));
  if (tool.publishes) published_ += plan_.shape.rows;
}

Run Drains::drain(const Tool& tool) {
  const std::string slot = backlog_.new_slot();
  Run run;
  run.tool = tool.name;
  const CpuTime before = cpu_of_ended_children();
  auto begin = steady_clock::now();
  Process process(tool.command(job_for(slot)));
  if (tool.ending == Ending::when_published) {
    if (!backlog_.in_use(slot, Deadline::in(start_limit))) fail(tool, process, "didn't start");
    begin = steady_clock::now();
  }
  const ServiceCost service_before(services_);
  await(tool, process, slot, run);
  run.seconds = seconds_since(begin);
  const ServiceCost service_after(services_);
  run.postgres = difference(service_after.postgres, service_before.postgres);
  run.broker = difference(service_after.broker, service_before.broker);
  end(tool, process);
  const CpuTime after = cpu_of_ended_children();
  run.user = after.user - before.user;
  run.system = after.system - before.system;
  backlog_.drop_slot(slot);
  return run;
}

SystemCalls Drains::count_system_calls(const Tool& tool) {
  const std::string slot = backlog_.new_slot();
  Process process(tool.command(job_for(slot)));
  SystemCallCounter counter(process.pid());
  Run ignored;
  await(tool, process, slot, ignored);
  end(tool, process);
  backlog_.drop_slot(slot);
  SystemCalls calls{tool.name, std::nullopt};
  if (const auto count = counter.count())
    calls.per_row = static_cast<double>(*count) / static_cast<double>(plan_.shape.rows);
  return calls;
}

void Drains::check_records() {
  long found = 0;
  for (const std::string& topic : topics_of(plan_, topic_))
    found += plan_.transactions ? committed_records(services_, topic) : services_.records_of(topic);
  if (found != published_)
    throw std::runtime_error(plan_.name + ": the topic holds " + std::to_string(found) +
                             " records instead of " + std::to_string(published_));
}

namespace {

/// Seconds, guessed with care: a little more than it takes.
double expected_seconds(const DrainPlan& plan) {
  const double rows = static_cast<double>(plan.shape.rows);
  const double bytes = rows * static_cast<double>(plan.shape.payload_bytes + 400);
  const double once = rows / 60000 + bytes / 300e6 + 0.5;
  const double rounds = 1.0 + (plan.count_system_calls ? 1 : 0);  // more of them if there is time
  return once * static_cast<double>(plan.tools.size()) * rounds + rows / 50000 + 2;
}

void measure_runs(Drains& drains, const DrainPlan& plan, const Budget& budget, DrainCase& result) {
  double longest = 0;
  for (int run = 0; run < plan.runs; ++run) {
    if (run > 0 && budget.seconds_left() < longest * 1.1) break;
    const auto begin = steady_clock::now();
    for (const Tool& tool : plan.tools) result.runs.push_back(drains.drain(tool));
    longest = std::max(longest, seconds_since(begin));
  }
}

}  // namespace

void measure(Bench& bench, const DrainPlan& plan) {
  if (!bench.begin(plan.suite, plan.name, expected_seconds(plan))) return;
  DrainCase result{plan.suite, plan.name, plan.shape.rows, {}, {}, {}};
  for (const Tool& tool : plan.tools) result.tools.push_back(tool.name);
  Drains drains(bench.services, plan);
  measure_runs(drains, plan, bench.budget, result);
  if (plan.count_system_calls)
    for (const Tool& tool : plan.tools)
      result.system_calls.push_back(drains.count_system_calls(tool));
  drains.check_records();
  bench.results.drains.push_back(std::move(result));
  bench.end();
}

void warm_up(Services& services, long rows) {
  constexpr int most = 8;
  constexpr double same = 0.05;
  std::fprintf(stderr, "warming up\n");
  Shape shape;
  shape.rows = rows;
  Drains drains(services, {.suite = "", .name = "warm-up", .shape = shape, .tools = {}});
  double last = 0;
  for (int count = 0; count < most; ++count) {
    const double now = drains.drain(walpost()).seconds;
    const bool settled = last > 0 && std::abs(now - last) < same * last;
    last = now;
    if (settled) break;
  }
  drains.check_records();
}

}  // namespace walpost::bench
