#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "support/kafka_broker.h"
#include "support/postgres_server.h"

namespace walpost::bench {

using test::Transport;

/// Of a database, for tools that don't understand conninfo strings.
struct TcpAddress {
  std::string host;
  int port = 0;
  std::string user;
  std::string database;
};

struct ServicesOptions {
  std::string postgres;  ///< conninfo of a server that runs already; empty: a throw-away one
  std::string kafka;     ///< HOST:PORT of brokers that run already; empty: a throw-away one
};

/// PostgreSQL and Kafka for all suites: own ones on free ports, settled so that neither autovacuum
/// nor a checkpoint comes between two runs, or given ones. In either server everything is in a
/// database of its own, which is made here and dropped at the end.
class Services {
 public:
  /// Throws if they don't start, can't be reached, or the database is there already.
  explicit Services(const ServicesOptions& options);
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  /// In the database.
  [[nodiscard]] test::Session& sql() { return *session_; }
  /// Of the database. The transport of a given server is what was given.
  [[nodiscard]] std::string conninfo(Transport transport) const;
  /// Of the database over TCP. REQUIRES: has_both_transports().
  [[nodiscard]] TcpAddress tcp_address() const;
  /// Whether both can be chosen.
  [[nodiscard]] bool has_both_transports() const { return server_ != nullptr; }

  [[nodiscard]] std::string bootstrap() const;
  void create_topic(const std::string& name, int partitions,
                    const std::map<std::string, std::string>& configs = {});
  void delete_topic(const std::string& name);
  /// What was ever appended to a topic that has no transactions.
  [[nodiscard]] long records_of(const std::string& topic) const;

  /// CPU seconds so far; nothing for services that aren't ours.
  [[nodiscard]] std::optional<double> postgres_cpu() const;
  [[nodiscard]] std::optional<double> broker_cpu() const;

  [[nodiscard]] std::string postgres_version();
  [[nodiscard]] std::string kafka_version() const;

 private:
  std::string given_postgres_;
  std::string given_kafka_;
  std::unique_ptr<test::PostgresServer> server_;
  std::unique_ptr<test::KafkaBroker> broker_;
  std::optional<test::Session> session_;
};

}  // namespace walpost::bench
