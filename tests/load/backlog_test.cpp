// Load on real PostgreSQL and Kafka with the optimised binary: that half a million rows all arrive
// once, in little memory. How fast is measured by scripts/bench.
#include <gtest/gtest.h>

#include <cstdio>

#include "integration/outbox_world.h"

namespace walpost::test {
namespace {

constexpr int rows = 500000;
constexpr long small_memory_kib = 32 * 1024;
constexpr long large_memory_kib = 150 * 1024;

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

KafkaBroker& busy_broker() {
  static KafkaBroker broker({.properties = {}, .heap_mib = 1024, .as_shipped = true});
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
    world.server.exec("call gen(" + std::to_string(count) + ", " + std::to_string(per_transaction) +
                      ")");
  }

  void write_large(int count, int kib) {
    world.server.exec(
        "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) "
        "select 'order', 'order-' || g, 'OrderPlaced', "
        "jsonb_build_object('text', repeat(md5(g::text), " +
        std::to_string(kib * 1024 / 32) + ")), '{}' from generate_series(1, " +
        std::to_string(count) + ") g");
  }

  void publish(const std::string& guarantee = "at_least_once") {
    Walpost walpost = world.start({"delivery.guarantee=" + guarantee});
    EXPECT_TRUE(world.wait_until_confirmed(Deadline::in(milliseconds(120000)))) << walpost.log();
    peak_kib = walpost.process().peak_resident_kib();
    EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  }

  void expect_complete_and_lean(const char* what, int count = rows,
                                long limit_kib = small_memory_kib) {
    const Comparison comparison = world.compare();
    EXPECT_EQ(comparison.committed, static_cast<std::size_t>(count));
    EXPECT_TRUE(comparison.exactly_once()) << comparison;
    EXPECT_LT(peak_kib, limit_kib);
    std::printf("%s: %zu rows, each once, peak RSS %.1f MiB\n", what, comparison.published,
                static_cast<double>(peak_kib) / 1024);
  }

  OutboxWorld world;
  long peak_kib = 0;
};

TEST_F(Backlog, OfOneRowTransactionsArrivesWholeInLittleMemory) {
  write(rows, 1);
  publish();
  expect_complete_and_lean("one-row transactions");
}

TEST_F(Backlog, InKafkaTransactionsArrivesWholeInLittleMemory) {
  write(rows, 1);
  publish("exactly_once");
  expect_complete_and_lean("one-row transactions, exactly once");
}

TEST_F(Backlog, OfOneHugeTransactionArrivesWholeInLittleMemory) {
  write(rows, rows);
  publish();
  expect_complete_and_lean("one transaction");
}

TEST_F(Backlog, OfPayloadsOf16KibArrivesWholeInLittleMemory) {
  write_large(8000, 16);
  publish();
  expect_complete_and_lean("16 KiB payloads", 8000);
}

TEST_F(Backlog, OfPayloadsOf256KibArrivesWholeInBoundedMemory) {
  write_large(500, 256);
  publish();
  expect_complete_and_lean("256 KiB payloads", 500, large_memory_kib);
}

}  // namespace
}  // namespace walpost::test
