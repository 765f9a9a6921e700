#include "bench/backlog.h"

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "support/walpost_process.h"

namespace walpost::bench {
namespace {

using test::Deadline;
using test::milliseconds;
using test::Session;

constexpr const char* first_slot = "walpost_bench";
constexpr std::size_t generators = 2;  // sessions that write one-row transactions

/// Never used twice: with exactly once the brokers remember a slot's position by its name.
std::string unused_slot_name() {
  static int count = 0;
  return "walpost_bench_" + std::to_string(getpid()) + "_" + std::to_string(++count);
}

std::string in_type(const std::string& json, const std::string& type) {
  if (type == "bytea") return "convert_to(" + json + ", 'UTF8')";
  return "(" + json + ")::" + type;
}

/// Members of the headers column: header0, header1, ...
std::string headers_sql(int count) {
  if (count == 0) return "null";
  std::string members;
  for (int i = 0; i < count; ++i)
    members += (i == 0 ? "" : ",") + ("\"header" + std::to_string(i)) + "\":\"trace-9a2d5f\"";
  return "'{" + members + "}'";
}

std::string payload_sql(const Shape& shape) {
  const std::string key = "(k % " + std::to_string(shape.keys) + ")";
  if (shape.payload_bytes == 0)
    return R"('{"items": [{"sku": "sku-501", "quantity": 2, "unitPrice": 124950}], "total": 249900, )"
           R"("orderId": "order-' || )" +
           key + R"( || '", "currency": "INR", "customerId": "customer-4821"}')";
  // The frame around the text takes about so many bytes.
  const long frame = 38;
  return R"('{"note": "' || substr(noise, 1 + (k % 1000)::int, )" +
         std::to_string(std::max(shape.payload_bytes - frame, 0L)) +
         R"() || '", "orderId": "order-' || )" + key + R"( || '"}')";
}

std::string procedure_sql(const Shape& shape) {
  const std::string per = std::to_string(shape.per_transaction);
  // Text without repetitions, which PostgreSQL can't compress; rows take pieces of it.
  const std::string noise_blocks = std::to_string((shape.payload_bytes + 1000) / 32 + 1);
  return "create or replace procedure fill(first bigint, n bigint) language plpgsql as $$ "
         "declare i bigint := first; noise text; begin "
         "select string_agg(md5(g::text), '') into noise from generate_series(1, " +
         noise_blocks + ") g; while i < first + n loop " + insert_sql(shape) +
         " from generate_series(i, least(i + " + per + ", first + n) - 1) k; commit; i := i + " +
         per + "; end loop; end $$";
}

constexpr const char* confirmed_sql = R"(
create or replace function confirmed(slot name, reached pg_lsn, seconds int) returns bool
language plpgsql as $$
declare until timestamptz := clock_timestamp() + make_interval(secs => seconds);
begin
 loop
  if (select confirmed_flush_lsn >= reached from pg_replication_slots where slot_name = slot) then
   return true;
  end if;
  if clock_timestamp() > until then return false; end if;
  perform pg_sleep(0.005);
 end loop;
end $$)";

void make_outbox(Services& services, const Shape& shape) {
  const test::Finished made =
      test::Walpost::command("init",
                             {.postgres = services.conninfo(Transport::unix_socket),
                              .kafka = "",
                              .set = {std::string("postgres.slot=") + first_slot,
                                      std::string("postgres.publication=") + Backlog::publication},
                              .extra = {"--create-outbox"},
                              .process = {}},
                             Deadline::in(milliseconds(30000)));
  if (made.status != test::exited(0))
    throw std::runtime_error("walpost init: " + made.out + made.err);
  if (shape.payload_type != "jsonb")
    services.sql().exec("alter table outbox alter column payload type " + shape.payload_type +
                        " using null");
}

}  // namespace

std::string insert_sql(const Shape& shape) {
  const std::string types = std::to_string(shape.types);
  return "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) select "
         "'type' || (k % " +
         types + "), 'order-' || (k % " + std::to_string(shape.keys) + "), 'OrderPlaced', " +
         in_type(payload_sql(shape), shape.payload_type) + ", " + headers_sql(shape.headers);
}

Backlog::Backlog(Services& services, const Shape& shape) : services_(services), shape_(shape) {
  make_outbox(services_, shape_);
  services_.sql().exec(confirmed_sql);
  if (shape_.rows > 0) write();
  services_.sql().exec("checkpoint");  // what was committed without waiting is on its way now
  end_ = services_.sql().value("select pg_current_wal_lsn()");
}

Backlog::~Backlog() {
  try {
    services_.sql().exec(
        "select pg_drop_replication_slot(slot_name) from pg_replication_slots "
        "where not active and database = current_database()");
    services_.sql().exec("drop table outbox");
    services_.sql().exec(std::string("drop publication ") + publication);
    services_.sql().exec("checkpoint");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the backlog is left behind: %s\n", error.what());
  }
}

void Backlog::write() {
  services_.sql().exec(procedure_sql(shape_));
  const std::size_t sessions = shape_.per_transaction == 1 ? generators : 1;
  const long share = shape_.rows / static_cast<long>(sessions);
  std::vector<Session> writers;
  for (std::size_t i = 0; i < sessions; ++i) {
    const long first = share * static_cast<long>(i);
    const long count = i + 1 == sessions ? shape_.rows - first : share;
    writers.emplace_back(services_.conninfo(Transport::unix_socket));
    writers.back().exec("set synchronous_commit = off");
    writers.back().send("call fill(" + std::to_string(first) + ", " + std::to_string(count) + ")");
  }
  for (Session& writer : writers) writer.finish();
}

std::string Backlog::new_slot() {
  std::string slot = unused_slot_name();
  services_.sql().exec("select pg_copy_logical_replication_slot('" + std::string(first_slot) +
                       "', '" + slot + "')");
  return slot;
}

bool Backlog::in_use(const std::string& slot, Deadline deadline) {
  return test::eventually(
      [&] {
        return services_.sql().value("select active from pg_replication_slots where slot_name = '" +
                                     slot + "'") == "t";
      },
      deadline);
}

void Backlog::drop_slot(const std::string& slot) {
  services_.sql().exec(
      "do $$ begin while (select active from pg_replication_slots where slot_name = '" + slot +
      "') loop perform pg_sleep(0.01); end loop; end $$");
  services_.sql().exec("select pg_drop_replication_slot('" + slot + "')");
}

bool Backlog::confirmed(const std::string& slot, int seconds) {
  return services_.sql().value("select confirmed('" + slot + "', '" + end_ + "', " +
                               std::to_string(seconds) + ")") == "t";
}

}  // namespace walpost::bench
