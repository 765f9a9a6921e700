// The suites that drain a backlog.
#include <algorithm>
#include <stdexcept>

#include "bench/drain.h"
#include "bench/peers.h"
#include "bench/suites.h"
#include "bench/table.h"

namespace walpost::bench {
namespace {

constexpr long backlog_rows = 500000;

Shape one_row_transactions(long rows) {
  Shape shape;
  shape.rows = rows;
  return shape;
}

Shape transactions_of(long per_transaction, long rows) {
  Shape shape = one_row_transactions(rows);
  shape.per_transaction = per_transaction;
  return shape;
}

std::vector<Tool> all_tools() {
  return {pg_recvlogical(), lower_bound(), walpost()};
}

}  // namespace

void drain_suite(Bench& bench) {
  const int fewer = std::max(1, bench.options.runs - 1);
  const auto drained = [&](const std::string& name, long per_transaction, int runs,
                           Transport transport) {
    measure(bench, {.suite = "drain",
                    .name = grouped(backlog_rows) + name,
                    .shape = transactions_of(per_transaction, backlog_rows),
                    .tools = all_tools(),
                    .runs = runs,
                    .transport = transport,
                    .count_system_calls = true});
  };
  if (bench.services.has_both_transports()) {
    drained(" one-row transactions, Unix socket", 1, bench.options.runs, Transport::unix_socket);
    drained(" one-row transactions, TCP", 1, fewer, Transport::tcp);
  } else {
    drained(" one-row transactions", 1, bench.options.runs, bench.options.transport);
  }
  drained(" rows, transactions of 100", 100, fewer, bench.options.transport);
  drained(" rows, one transaction", backlog_rows, fewer, bench.options.transport);
}

void peers_suite(Bench& bench) {
  constexpr long rows = 300000;
  if (bench.options.peers.empty()) return;
  if (!bench.services.has_both_transports())
    throw std::runtime_error("peers are measured with a PostgreSQL of our own only");
  measure(bench,
          {.suite = "peers",
           .name = grouped(rows) + " one-row transactions, TCP",
           .shape = one_row_transactions(rows),
           .tools = {pg_recvlogical(), walpost(), mq_bridge(bench.options.peers, Settings::tuned),
                     mq_bridge(bench.options.peers, Settings::defaults),
                     debezium(bench.options.peers, Settings::tuned),
                     debezium(bench.options.peers, Settings::defaults)},
           .runs = std::max(1, bench.options.runs - 1),
           .transport = Transport::tcp});
}

namespace {

struct ShapeCase {
  std::string name;
  Shape shape;
  int partitions = 6;
};

Shape shaped(long rows, const std::function<void(Shape&)>& change) {
  Shape shape = one_row_transactions(rows);
  change(shape);
  return shape;
}

/// About 60 to 100 MB each. Each but the first differs from it in one thing.
std::vector<ShapeCase> shapes() {
  constexpr long rows = 120000;
  constexpr long kib = 1024;
  const auto payload = [](long bytes, long count) {
    return shaped(count, [bytes](Shape& shape) { shape.payload_bytes = bytes; });
  };
  const auto with = [](const std::function<void(Shape&)>& change) { return shaped(rows, change); };
  return {
      {"payload 400 B", payload(400, rows)},
      {"payload 100 B", payload(100, rows)},
      {"payload 1.6 KB", payload(1600, 50000)},
      {"payload 16 KiB", payload(16 * kib, 5000)},
      {"payload 256 KiB", payload(256 * kib, 400)},
      {"100 topics", with([](Shape& shape) { shape.types = 100; }), 1},
      {"200 partitions", with([](Shape&) {}), 200},
      {"10 keys", with([](Shape& shape) { shape.keys = 10; })},
      {"1,000,000 keys", with([](Shape& shape) { shape.keys = 1000000; })},
      {"no row headers", with([](Shape& shape) { shape.headers = 0; })},
      {"2 row headers", with([](Shape&) {})},
      {"10 row headers", with([](Shape& shape) { shape.headers = 10; })},
      {"payload json", with([](Shape& shape) { shape.payload_type = "json"; })},
      {"payload text", with([](Shape& shape) { shape.payload_type = "text"; })},
      {"payload bytea", with([](Shape& shape) { shape.payload_type = "bytea"; })},
  };
}

}  // namespace

void shape_suite(Bench& bench) {
  for (const ShapeCase& each : shapes())
    measure(bench, {.suite = "shape",
                    .name = each.name,
                    .shape = each.shape,
                    .tools = {pg_recvlogical(), walpost()},
                    .runs = std::max(1, bench.options.runs - 1),
                    .transport = bench.options.transport,
                    .partitions = each.partitions,
                    .topic_per_type = each.shape.types > 1});
}

void growth_suite(Bench& bench) {
  constexpr long least_rows = 100000;
  for (long per = 1; per <= bench.options.rows; per *= 10)
    measure(bench, {.suite = "growth",
                    .name = grouped(static_cast<double>(per)) + " rows a transaction",
                    .shape = transactions_of(per, std::max(per, least_rows)),
                    .tools = {walpost()},
                    .runs = 1,
                    .transport = bench.options.transport});
}

}  // namespace walpost::bench
