// How long after its INSERT was sent a record reaches a consumer, at a steady rate with default
// settings. Prints the percentiles; what it checks is that every event arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "integration/outbox_world.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

std::int64_t now_ns() {
  return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

// One session that sends an INSERT with the time of sending in its payload at each tick.
void write_at_rate(const std::string& conninfo, int per_second, int count) {
  Session session(conninfo);
  const auto start = steady_clock::now();
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_until(start + nanoseconds(std::int64_t{1000000000} * i / per_second));
    session.exec(
        "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) values "
        "('order', 'order-" +
        std::to_string(i % 10000) + "', 'OrderPlaced', '" + std::to_string(now_ns()) +
        "', '{\"traceId\":\"trace-9a2d5f\"}')");
  }
}

// As brokers run, with the optimising compiler.
KafkaBroker& busy_broker() {
  static KafkaBroker broker({.properties = {}, .heap_mib = 1024, .under_load = true});
  return broker;
}

struct Load {
  int per_second;
  std::string guarantee = "at_least_once";
};

class Latency : public ::testing::TestWithParam<Load> {};

TEST_P(Latency, IsReportedAndEveryEventArrives) {
  const int rate = GetParam().per_second;
  const int count = rate * 10;
  OutboxWorld world(busy_broker(), {.postgres = {.settings = {}, .own_system = true}});
  Walpost walpost = world.start({"delivery.guarantee=" + GetParam().guarantee});
  walpost.wait_until_streaming();
  std::vector<double> milliseconds_taken;
  KafkaReader reader(busy_broker().bootstrap(), world.topic);
  std::thread writer([&] { write_at_rate(world.server.conninfo(), rate, count); });
  const std::size_t read =
      reader.each(static_cast<std::size_t>(count), Deadline::in(milliseconds(60000)),
                  [&](const RecordView& record) {
                    const auto sent = std::stoll(std::string(record.value.value()));
                    milliseconds_taken.push_back(static_cast<double>(now_ns() - sent) / 1e6);
                  });
  writer.join();
  ASSERT_EQ(read, static_cast<std::size_t>(count)) << walpost.log();
  // The first second warms caches, connections and the topic's metadata up.
  milliseconds_taken.erase(milliseconds_taken.begin(), milliseconds_taken.begin() + rate);
  std::sort(milliseconds_taken.begin(), milliseconds_taken.end());
  const auto percentile = [&](double p) {
    const double last = static_cast<double>(milliseconds_taken.size() - 1);
    return milliseconds_taken[static_cast<std::size_t>(p * last)];
  };
  std::printf("%d/s, %s: p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms, max %.1f ms\n", rate,
              GetParam().guarantee.c_str(), percentile(0.5), percentile(0.99), percentile(0.999),
              milliseconds_taken.back());
  EXPECT_EQ(walpost.stop(), exited(0));
}

INSTANTIATE_TEST_SUITE_P(Rates, Latency,
                         ::testing::Values(Load{10}, Load{1000}, Load{5000},
                                           Load{1000, "exactly_once"}),
                         [](const auto& load) {
                           return "PerSecond" + std::to_string(load.param.per_second) +
                                  (load.param.guarantee == "exactly_once" ? "ExactlyOnce" : "");
                         });

}  // namespace
}  // namespace walpost::test
