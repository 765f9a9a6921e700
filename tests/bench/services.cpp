#include "bench/services.h"

#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/process_cost.h"
#include "support/kafka_admin.h"

namespace walpost::bench {
namespace {

using test::Deadline;
using test::KafkaBroker;
using test::milliseconds;
using test::PostgresServer;
using test::Session;

constexpr const char* database = "walpost_bench";
constexpr milliseconds admin_limit{15000};
constexpr int query_limit_ms = 10000;

/// fsync stays off, as in every test server: the disk isn't what is measured.
test::PostgresOptions quiet_server() {
  return {.settings = {{"shared_buffers", "256MB"},
                       {"max_wal_size", "8GB"},
                       {"checkpoint_timeout", "1h"},
                       {"autovacuum", "off"},
                       {"max_replication_slots", "50"}}};
}

std::string quoted(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

/// The same server, another database.
std::string in_database(const std::string& conninfo, const std::string& name) {
  char* reason = nullptr;
  PQconninfoOption* options = PQconninfoParse(conninfo.c_str(), &reason);
  if (options == nullptr) {
    const std::string why = reason != nullptr ? reason : "out of memory";
    PQfreemem(reason);
    throw std::runtime_error("--postgres: " + why);
  }
  std::string text;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option)
    if (option->val != nullptr && std::string(option->keyword) != "dbname")
      text += std::string(option->keyword) + "=" + quoted(option->val) + " ";
  PQconninfoFree(options);
  return text + "dbname=" + quoted(name);
}

void create_database(Session& session) {
  try {
    session.exec(std::string("create database ") + database);
  } catch (const test::SqlError& error) {
    throw std::runtime_error(std::string("database ") + database +
                             " can't be made: " + error.what() +
                             "If an earlier run left it, drop its replication "
                             "slots and the database.");
  }
}

void drop_database(Session& session) {
  session.exec(std::string("select pg_drop_replication_slot(slot_name) from pg_replication_slots "
                           "where not active and database = '") +
               database + "'");
  session.exec(std::string("drop database ") + database);
}

struct DestroyClient {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
};
using Client = std::unique_ptr<rd_kafka_t, DestroyClient>;

Client client_of(const std::string& bootstrap) {
  std::array<char, 256> reason{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), reason.data(), reason.size());
  Client client(rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason.data(), reason.size()));
  if (!client) throw std::runtime_error("--kafka: " + std::string(reason.data()));
  return client;
}

/// From the name of a jar on the class path of the broker's process.
std::string version_of_jars(pid_t broker) {
  std::ifstream line("/proc/" + std::to_string(broker) + "/cmdline");
  std::string folder;
  for (std::string argument; std::getline(line, argument, '\0');)
    if (argument.ends_with("/*")) folder = argument.substr(0, argument.size() - 2);
  const std::string prefix = "kafka-clients-";
  std::error_code missing;
  for (const auto& jar : std::filesystem::directory_iterator(folder, missing)) {
    const std::string name = jar.path().stem().string();
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return "unknown";
}

void check(rd_kafka_resp_err_t error, const std::string& topic) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("topic " + topic + ": " + rd_kafka_err2str(error));
}

}  // namespace

Services::Services(const ServicesOptions& options)
    : given_postgres_(options.postgres), given_kafka_(options.kafka) {
  if (given_postgres_.empty()) server_ = std::make_unique<PostgresServer>(quiet_server());
  if (given_kafka_.empty())
    broker_ = std::make_unique<KafkaBroker>(
        test::KafkaOptions{.properties = {}, .heap_mib = 1024, .as_shipped = true});
  else if (!test::broker_answers(given_kafka_))
    throw std::runtime_error("--kafka: no broker answers at " + given_kafka_);
  Session maintenance(server_ ? server_->conninfo() : given_postgres_);
  create_database(maintenance);
  session_.emplace(conninfo(Transport::unix_socket));
}

Services::~Services() {
  session_.reset();
  if (server_) return;
  try {
    Session maintenance(given_postgres_);
    drop_database(maintenance);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "database %s is left behind: %s\n", database, error.what());
  }
}

std::string Services::conninfo(Transport transport) const {
  return server_ ? server_->conninfo(transport, database) : in_database(given_postgres_, database);
}

TcpAddress Services::tcp_address() const {
  return {"127.0.0.1", server_->port(), "postgres", database};
}

std::string Services::bootstrap() const {
  return broker_ ? broker_->bootstrap() : given_kafka_;
}

void Services::create_topic(const std::string& name, int partitions,
                            const std::map<std::string, std::string>& configs) {
  test::create_topic(bootstrap(), name, partitions, configs, Deadline::in(admin_limit));
}

void Services::delete_topic(const std::string& name) {
  test::delete_topic(bootstrap(), name, Deadline::in(admin_limit));
}

long Services::records_of(const std::string& topic) const {
  const Client client = client_of(bootstrap());
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client.get(), topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  const auto asked = rd_kafka_metadata(client.get(), 0, handle, &metadata, query_limit_ms);
  rd_kafka_topic_destroy(handle);
  check(asked, topic);
  const int partitions = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
  rd_kafka_metadata_destroy(metadata);
  long records = 0;
  for (int partition = 0; partition < partitions; ++partition) {
    std::int64_t first = 0;
    std::int64_t end = 0;
    check(rd_kafka_query_watermark_offsets(client.get(), topic.c_str(), partition, &first, &end,
                                           query_limit_ms),
          topic);
    records += end;
  }
  return records;
}

std::optional<double> Services::postgres_cpu() const {
  if (!server_) return std::nullopt;
  return cpu_of_family(server_->process().pid());
}

std::optional<double> Services::broker_cpu() const {
  if (!broker_) return std::nullopt;
  return cpu_of(broker_->process().pid());
}

std::string Services::postgres_version() {
  return sql().value("show server_version");
}

std::string Services::kafka_version() const {
  return broker_ ? version_of_jars(broker_->process().pid()) : "given, version unknown";
}

}  // namespace walpost::bench
