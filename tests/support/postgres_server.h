#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/deadline.h"
#include "support/process.h"
#include "support/temp_dir.h"

struct pg_conn;

namespace walpost::test {

/// A statement that failed; `what()` is the server's message.
struct SqlError : std::runtime_error {
  SqlError(const std::string& message, std::string state)
      : std::runtime_error(message), sqlstate(std::move(state)) {}
  std::string sqlstate;  ///< five characters; empty when the connection failed
};

using SqlValue = std::optional<std::string>;  ///< text form; nothing: NULL
using SqlRows = std::vector<std::vector<SqlValue>>;

/// One connection of a test; several at a time make concurrent transactions.
class Session {
 public:
  /// Throws SqlError if the server doesn't accept it.
  explicit Session(const std::string& conninfo);

  /// One or several statements; an error throws SqlError. Rows of the last one.
  SqlRows rows(const std::string& sql);
  void exec(const std::string& sql) { rows(sql); }
  /// The only column of the only row; throws if the shape differs or it is NULL.
  std::string value(const std::string& sql);
  /// Starts statements without waiting for them: for ones that are to block on a lock.
  void send(const std::string& sql);
  /// Waits for what send() started.
  SqlRows finish();

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Close> connection_;
};

enum class StopMode { smart, fast, immediate };
enum class Transport { unix_socket, tcp };

struct PostgresOptions {
  std::map<std::string, std::string> settings = {};  ///< of postgresql.conf, over the defaults here
  bool durable = false;  ///< fsync and full_page_writes, for crash tests
  /// The folder of initdb and postgres; empty: postgres_binaries().
  std::filesystem::path binaries = {};
  /// A system identifier of its own; all others of a process have the same one. Costs a second.
  bool own_system = false;
};

/// A throw-away PostgreSQL of its own, superuser `postgres` without a password, on a free port of
/// 127.0.0.1 and a Unix socket, wal_level logical. Runs as `postgres` or `nobody` when the test is
/// root.
class PostgresServer {
 public:
  /// Makes the cluster and starts it.
  explicit PostgresServer(const PostgresOptions& options = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// Starts it again after a stop; same port, socket and data.
  void start();
  /// Throws if it still runs at the deadline.
  void stop(StopMode mode, Deadline deadline = Deadline::in(milliseconds(30000)));
  /// Only asks it to stop, for tests of who makes it wait. See wait_stopped().
  void request_stop(StopMode mode);
  /// Whether it has ended by the deadline.
  [[nodiscard]] bool wait_stopped(Deadline deadline);
  /// SIGKILL to all of it; the next start() recovers from the crash.
  void kill();
  /// For the next start().
  void set(const std::string& setting, const std::string& value);
  /// Has the settings given by set() read by the running server.
  void reload();

  /// A libpq conninfo string in the key=value form.
  [[nodiscard]] std::string conninfo(Transport transport = Transport::unix_socket,
                                     const std::string& database = "postgres",
                                     const std::string& user = "postgres") const;
  /// The same as postgresql://, over TCP.
  [[nodiscard]] std::string url(const std::string& database = "postgres",
                                const std::string& user = "postgres") const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::filesystem::path& data_directory() const { return data_; }
  /// The server's process; only while it was started.
  [[nodiscard]] Process& process();

  [[nodiscard]] Session connect() const { return Session(conninfo()); }
  /// Each in a connection of its own that is kept for the next call.
  void exec(const std::string& sql);
  std::string value(const std::string& sql);
  SqlRows rows(const std::string& sql);

 private:
  void write_settings() const;
  Session& session();

  TempDir folder_;
  std::filesystem::path binaries_;
  std::filesystem::path data_;
  std::uint16_t port_;
  std::map<std::string, std::string> settings_;
  std::unique_ptr<Process> process_;
  std::optional<Session> session_;
};

/// The folder of initdb and postgres that PostgresServer uses: $WALPOST_PG_BIN, else the newest
/// /usr/lib/postgresql/*/bin, else `pg_config --bindir`.
std::filesystem::path postgres_binaries();
/// That of another major, from the cache that scripts/fetch-postgres fills. Throws if it isn't
/// there.
std::filesystem::path postgres_binaries_of(int major);

}  // namespace walpost::test
