#include "integration/outbox_world.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <unordered_map>

#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

constexpr auto setup_deadline = milliseconds(30000);

// Short transactions over 40 keys with savepoint rollbacks, aborts and pauses, so that neither the
// order of ids nor that of inserts is the order of commits.
constexpr const char* concurrent_script = R"(
\set k random(1, 40)
\set r random(1, 10)
\set n random(1, 4)
begin;
insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) select 'order', 'key-' || :k, 'E' || g, jsonb_build_object('n', g, 'client', :client_id), '{"traceId":"t"}' from generate_series(1, :n) g;
savepoint s;
insert into outbox(aggregate_type, aggregate_id, event_type, payload) values ('order', 'key-' || :k, 'rolled-back', '{}');
rollback to s;
select pg_sleep(random() * 0.004) where :r < 4;
insert into outbox(aggregate_type, aggregate_id, event_type, payload) values ('order', 'key-' || ((:k * 7) % 40 + 1), 'Last', '{"z":1}');
\if :r = 10
rollback;
\else
commit;
\endif
)";

struct Row {
  std::size_t rank = 0;  ///< in commit order
  std::string key;
  std::string payload;
  bool in_table = false;
  std::int64_t rank_in_partition = -1;
  bool seen = false;
};

using Rows = std::unordered_map<std::string, Row>;

std::vector<std::string> committed_ids(PostgresServer& server) {
  std::vector<std::string> ids;
  // "table public.outbox: INSERT: id[uuid]:'…' …"; only the id travels.
  for (auto& row :
       server.rows("select substr(data, position('id[uuid]:' in data) + 10, 36) from "
                   "pg_logical_slot_peek_changes('oracle', null, null, 'include-xids', '0', "
                   "'skip-empty-xacts', '1') where data like 'table public.outbox: INSERT:%'"))
    ids.push_back(row[0].value());
  return ids;
}

Rows committed_rows(PostgresServer& server) {
  Rows rows;
  std::size_t rank = 0;
  for (auto& id : committed_ids(server)) rows[id].rank = rank++;
  for (auto& row : server.rows("select id, aggregate_id, payload from outbox")) {
    const auto found = rows.find(row[0].value());
    if (found == rows.end()) continue;
    found->second.key = row[1].value();
    found->second.payload = row[2].value();
    found->second.in_table = true;
  }
  return rows;
}

std::int32_t java_partition(std::string_view key, int partitions) {
  return rd_kafka_msg_partitioner_murmur2(nullptr, key.data(), key.size(), partitions, nullptr,
                                          nullptr);
}

// Numbers the rows of each partition in commit order, which is what its records are held against.
void number_within_partitions(Rows& rows, int partitions) {
  std::vector<Row*> in_order(rows.size());
  for (auto& [id, row] : rows) in_order[row.rank] = &row;
  std::vector<std::int64_t> next(static_cast<std::size_t>(partitions), 0);
  for (Row* row : in_order)
    row->rank_in_partition = next[static_cast<std::size_t>(java_partition(row->key, partitions))]++;
}

std::string message_id(const RecordView& record) {
  std::string id;
  for (const auto& [name, value] : record.headers)
    if (name == "messageId" && value) id = std::string(*value);
  return id;
}

// One partition's story so far.
struct Progress {
  std::int64_t last = -1;
  std::int64_t highest = -1;
};

void count_record(Comparison& comparison, Rows& rows, std::vector<Progress>& partitions,
                  const RecordView& record) {
  ++comparison.published;
  const auto found = rows.find(message_id(record));
  if (found == rows.end()) {
    ++comparison.foreign;
    return;
  }
  Row& row = found->second;
  if (row.in_table && (record.key != row.key || record.value != row.payload))
    ++comparison.wrong_bytes;
  if (record.partition != java_partition(row.key, static_cast<int>(partitions.size())))
    ++comparison.wrong_partition;
  Progress& partition = partitions[static_cast<std::size_t>(record.partition)];
  const std::int64_t rank = row.rank_in_partition;
  if (rank <= partition.last)
    ++comparison.repeats;
  else if (rank != partition.last + 1)
    ++comparison.broken_repeats;
  if (row.seen)
    ++comparison.duplicates;
  else if (rank < partition.highest)
    ++comparison.out_of_order;
  row.seen = true;
  partition.last = rank;
  partition.highest = std::max(partition.highest, rank);
}

}  // namespace

bool Comparison::at_least_once() const {
  return lost == 0 && foreign == 0 && out_of_order == 0 && broken_repeats == 0 &&
         wrong_bytes == 0 && wrong_partition == 0 && published == committed + duplicates;
}

std::ostream& operator<<(std::ostream& out, const Comparison& c) {
  return out << "committed " << c.committed << ", published " << c.published << ", lost " << c.lost
             << ", foreign " << c.foreign << ", duplicates " << c.duplicates << " in " << c.repeats
             << " repeats, broken repeats " << c.broken_repeats << ", out of order "
             << c.out_of_order << ", wrong bytes " << c.wrong_bytes << ", wrong partition "
             << c.wrong_partition;
}

OutboxWorld::OutboxWorld(KafkaBroker& broker, WorldOptions options)
    : server(options.postgres), topic(KafkaBroker::unique_topic("outbox")), broker_(broker) {
  broker_.create_topic(topic, options.partitions, options.topic_configs);
  WalpostOptions init = arguments();
  if (options.preset_sql.empty())
    init.extra = {"--create-outbox"};
  else
    server.exec(options.preset_sql);
  init.extra.insert(init.extra.end(), options.init.begin(), options.init.end());
  const Finished made = Walpost::command("init", init, Deadline::in(setup_deadline));
  if (made.status != exited(0)) throw std::runtime_error("walpost init: " + made.out + made.err);
  server.exec("select pg_create_logical_replication_slot('oracle', 'test_decoding')");
  std::ofstream(scripts_.path() / "concurrent.sql") << concurrent_script;
}

WalpostOptions OutboxWorld::arguments(std::vector<std::string> set) const {
  set.insert(set.begin(), "route.topic=" + topic);
  return {.postgres = server.conninfo(),
          .kafka = broker_.bootstrap(),
          .set = std::move(set),
          .extra = {},
          .process = {}};
}

Walpost OutboxWorld::start(std::vector<std::string> set) const {
  return Walpost(arguments(std::move(set)));
}

void OutboxWorld::write_concurrently(int clients, int transactions) {
  const Finished done = run_to_end(
      {"pgbench", "-n", "-c", std::to_string(clients), "-t", std::to_string(transactions), "-f",
       (scripts_.path() / "concurrent.sql").string(), server.conninfo()},
      Deadline::in(milliseconds(120000)));
  if (done.status != exited(0)) throw std::runtime_error("pgbench: " + done.err);
}

std::unique_ptr<Process> OutboxWorld::start_writers(int clients, int seconds) {
  return std::make_unique<Process>(std::vector<std::string>{
      "pgbench", "-n", "-c", std::to_string(clients), "-T", std::to_string(seconds), "-f",
      (scripts_.path() / "concurrent.sql").string(), server.conninfo()});
}

void OutboxWorld::write(int count) {
  server.exec(
      "do $$ begin for i in 1.." + std::to_string(count) +
      " loop insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) "
      "values ('order', 'order-' || (i % 10000), 'OrderPlaced', "
      "jsonb_build_object('orderId', i, 'total', 249900, 'currency', 'INR', 'items', "
      "jsonb_build_array(jsonb_build_object('sku', 'sku-501', 'quantity', 2, 'unitPrice', "
      "124950))), '{\"traceId\":\"trace-9a2d5f\"}'); commit; end loop; end $$");
}

std::vector<CommittedEvent> OutboxWorld::committed_events() {
  std::unordered_map<std::string, std::string> keys;
  for (auto& row : server.rows("select id, aggregate_id from outbox"))
    keys[row[0].value()] = row[1].value_or("");
  std::vector<CommittedEvent> events;
  for (auto& id : committed_ids(server)) events.push_back({id, keys.at(id)});
  return events;
}

std::string OutboxWorld::confirmed_flush_lsn() {
  return server.value(
      "select confirmed_flush_lsn from pg_replication_slots where slot_name = 'walpost'");
}

bool OutboxWorld::wait_until_confirmed(Deadline deadline) {
  const std::string target = server.value("select pg_current_wal_lsn()");
  return eventually(
      [&] {
        return server.value("select confirmed_flush_lsn >= '" + target +
                            "' from pg_replication_slots where slot_name = 'walpost'") == "t";
      },
      deadline);
}

Comparison OutboxWorld::compare(Deadline deadline) {
  Rows rows = committed_rows(server);
  KafkaReader reader(broker_.bootstrap(), topic);
  number_within_partitions(rows, reader.partitions());
  std::vector<Progress> partitions(static_cast<std::size_t>(reader.partitions()));
  Comparison comparison;
  comparison.committed = rows.size();
  reader.each_to_end(deadline, [&](const RecordView& record) {
    count_record(comparison, rows, partitions, record);
  });
  comparison.lost = static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.second.seen; }));
  return comparison;
}

}  // namespace walpost::test
