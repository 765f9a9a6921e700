// Load on real PostgreSQL and Kafka with the optimised binary. Rates are ratios to pg_recvlogical
// on the same backlog in the same run, because the machine is noisy; the figures are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "integration/outbox_world.h"

namespace walpost::test {
namespace {

using std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int rows = 500000;
constexpr long memory_limit_kib = 64 * 1024;

// The generator of shared/bench: 10,000 keys, payloads of about 160 bytes.
constexpr const char* generator = R"(
create or replace procedure gen(n int, per int) language plpgsql as $$
declare i int := 0;
begin
 while i < n loop
  insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers)
  select 'order', 'order-' || ((i + g) % 10000), 'OrderPlaced',
    jsonb_build_object('orderId', 'order-' || ((i + g) % 10000), 'customerId', 'customer-4821',
      'total', 249900, 'currency', 'INR', 'items',
      jsonb_build_array(jsonb_build_object('sku', 'sku-501', 'quantity', 2, 'unitPrice', 124950))),
    '{"traceId":"trace-9a2d5f"}'
  from generate_series(1, per) g;
  commit;
  i := i + per;
 end loop;
end $$;
)";

// As brokers run. Its compiler needs some millions of records to finish, and until then it takes
// half of a core away from everybody: hence the drains that aren't timed.
KafkaBroker& busy_broker() {
  static KafkaBroker broker({.properties = {}, .heap_mib = 1024, .under_load = true});
  return broker;
}

class Backlog : public ::testing::Test {
 protected:
  Backlog()
      : world(busy_broker(),
              {.postgres = {.settings = {{"shared_buffers", "256MB"}, {"max_wal_size", "8GB"}},
                            .own_system = true}}) {
    world.server.exec(generator);
  }

  void write(int count, int per_transaction) {
    for (const char* slot :
         {"warm1", "warm2", "recv1", "recv2", "recv3", "copy1", "copy2", "copy3"})
      world.server.exec("select pg_copy_logical_replication_slot('walpost', '" + std::string(slot) +
                        "')");
    world.server.exec("call gen(" + std::to_string(count) + ", " + std::to_string(per_transaction) +
                      ")");
    world.server.exec("checkpoint");
    end = world.server.value("select pg_current_wal_lsn()");
  }

  double receive_only(const std::string& slot) {
    const auto before = steady_clock::now();
    const Finished done =
        run_to_end({(postgres_binaries() / "pg_recvlogical").string(), "-d",
                    world.server.conninfo(), "-S", slot, "--start", "-o", "proto_version=1", "-o",
                    "publication_names=walpost", "-f", "/dev/null", "--endpos", end},
                   Deadline::in(milliseconds(120000)));
    EXPECT_EQ(done.status, exited(0)) << done.err;
    return Seconds(steady_clock::now() - before).count();
  }

  double publish(const std::string& slot, const std::string& guarantee = "at_least_once") {
    const auto before = steady_clock::now();
    Walpost walpost = world.start({"postgres.slot=" + slot, "delivery.guarantee=" + guarantee});
    const bool confirmed = eventually(
        [&] {
          return world.server.value("select confirmed_flush_lsn >= '" + end +
                                    "' from pg_replication_slots where slot_name = '" + slot +
                                    "'") == "t";
        },
        Deadline::in(milliseconds(120000)));
    const double took = Seconds(steady_clock::now() - before).count();
    EXPECT_TRUE(confirmed) << walpost.log();
    peak_kib = std::max(peak_kib, walpost.process().peak_resident_kib());
    EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
    return took;
  }

  void expect_complete_and_lean(const char* what, int count = rows) {
    // Three drains of the same backlog: each its own pass over the topic.
    const Comparison comparison = world.compare();
    EXPECT_EQ(comparison.committed, static_cast<std::size_t>(count));
    EXPECT_TRUE(comparison.exactly_once()) << comparison;
    EXPECT_LT(peak_kib, memory_limit_kib);
    std::printf("%s: %zu rows, each once, peak RSS %.1f MiB\n", what, comparison.published,
                static_cast<double>(peak_kib) / 1024);
  }

  OutboxWorld world;
  std::string end;
  long peak_kib = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST_F(Backlog, OfOneRowTransactionsDrainsAboutAsFastAsPgRecvlogicalReadsIt) {
  write(rows, 1);
  publish("walpost");
  expect_complete_and_lean("one-row transactions");
  for (const char* slot : {"warm1", "warm2"}) publish(slot);
  std::vector<double> ratios;
  for (const std::string pair : {"1", "2", "3"}) {
    const double receive = receive_only("recv" + pair);
    const double relay = publish("copy" + pair);
    std::printf("pg_recvlogical %.0f rows/s, walpost %.0f rows/s, ratio %.2f\n", rows / receive,
                rows / relay, receive / relay);
    ratios.push_back(receive / relay);
  }
  // Both cores are shared with PostgreSQL, Kafka and whatever else the machine does.
  EXPECT_GE(median(ratios), 0.6);
}

TEST_F(Backlog, InKafkaTransactionsDrainsAboutAsFastAsWithout) {
  constexpr int fewer = 200000;
  write(fewer, 1);
  publish("walpost", "exactly_once");
  expect_complete_and_lean("one-row transactions, exactly once", fewer);
  publish("warm1");
  std::vector<double> ratios;
  for (const std::string pair : {"1", "2", "3"}) {
    const double without = publish("recv" + pair);
    const double with = publish("copy" + pair, "exactly_once");
    std::printf("at least once %.0f rows/s, exactly once %.0f rows/s, ratio %.2f\n",
                fewer / without, fewer / with, without / with);
    ratios.push_back(without / with);
  }
  EXPECT_GE(median(ratios), 0.6);  // aim: 0.8, on a machine without other work
}

TEST_F(Backlog, OfOneHugeTransactionDrainsInFlatMemory) {
  write(rows, rows);
  publish("walpost");
  expect_complete_and_lean("one transaction");
  const double receive = receive_only("recv2");
  const double relay = publish("copy2");
  std::printf("pg_recvlogical %.0f rows/s, walpost %.0f rows/s, ratio %.2f\n", rows / receive,
              rows / relay, receive / relay);
  EXPECT_LT(peak_kib, memory_limit_kib);
}

}  // namespace
}  // namespace walpost::test
