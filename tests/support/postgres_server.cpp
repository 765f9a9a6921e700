#include "support/postgres_server.h"

#include <poll.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/free_port.h"

namespace walpost::test {
namespace {

constexpr milliseconds start_limit{60000};

/// PostgreSQL refuses to run as root. Empty: as ourselves.
std::string server_user() {
  if (geteuid() != 0) return "";
  return getpwnam("postgres") != nullptr ? "postgres" : "nobody";
}

Finished run_as_server_user(std::vector<std::string> arguments) {
  ProcessOptions options;
  options.user = server_user();
  options.working_directory = "/";
  Finished finished = run_to_end(std::move(arguments), Deadline::in(start_limit), options);
  if (finished.status != exited(0)) throw std::runtime_error(finished.err + finished.out);
  return finished;
}

void give_to_server_user(const std::filesystem::path& folder) {
  if (geteuid() != 0) return;
  const passwd* entry = getpwnam(server_user().c_str());
  if (entry == nullptr || chown(folder.c_str(), entry->pw_uid, entry->pw_gid) != 0)
    throw std::runtime_error("can't give " + folder.string() + " to " + server_user());
}

std::filesystem::path make_cluster(const std::filesystem::path& binaries,
                                   const std::filesystem::path& data) {
  run_as_server_user({(binaries / "initdb").string(), "-D", data.string(), "-U", "postgres", "-A",
                      "trust", "-E", "UTF8", "--locale=C", "--no-sync"});
  return data;
}

/// A cluster made once a process; a server starts as a copy, which is many times faster.
const std::filesystem::path& template_cluster(const std::filesystem::path& binaries) {
  struct Made {
    TempDir folder;
    std::filesystem::path data;
  };
  static std::map<std::filesystem::path, Made> all;
  Made& made = all[binaries];
  if (made.data.empty()) {
    give_to_server_user(made.folder.path());
    made.data = make_cluster(binaries, made.folder.path() / "template");
  }
  return made.data;
}

std::map<std::string, std::string> default_settings(bool durable) {
  const std::string on_disk = durable ? "on" : "off";
  return {{"listen_addresses", "127.0.0.1"},
          {"wal_level", "logical"},
          {"max_wal_senders", "20"},
          {"max_replication_slots", "20"},
          {"max_connections", "50"},
          {"shared_buffers", "64MB"},
          {"fsync", on_disk},
          {"full_page_writes", on_disk},
          {"log_line_prefix", "%m [%p] "},
          {"log_replication_commands", "on"},
          {"timezone", "UTC"}};
}

std::string quoted(const std::string& value) {
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}

int signal_of(StopMode mode) {
  switch (mode) {
    case StopMode::smart:
      return SIGTERM;
    case StopMode::fast:
      return SIGINT;
    case StopMode::immediate:
      return SIGQUIT;
  }
  throw std::logic_error("unknown stop mode");
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

/// For a process that is not our child, which is why it can't be waited for by waitpid.
void kill_and_wait(pid_t process) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (pidfd < 0) return;  // it is gone
  ::kill(process, SIGKILL);
  pollfd ended{pidfd, POLLIN, 0};
  poll(&ended, 1, static_cast<int>(start_limit.count()));
  close(pidfd);
}

std::filesystem::path newest_debian_version() {
  std::filesystem::path newest;
  int newest_version = 0;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", missing)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version <= newest_version || !std::filesystem::exists(entry.path() / "bin/initdb"))
      continue;
    newest = entry.path() / "bin";
    newest_version = version;
  }
  return newest;
}

}  // namespace

std::filesystem::path postgres_binaries() {
  if (const char* chosen = std::getenv("WALPOST_PG_BIN")) return chosen;
  if (auto newest = newest_debian_version(); !newest.empty()) return newest;
  std::string folder = run_to_end({"pg_config", "--bindir"}, Deadline::in(milliseconds(10000))).out;
  if (!folder.empty()) folder.pop_back();  // the newline
  if (!std::filesystem::exists(std::filesystem::path(folder) / "initdb"))
    throw std::runtime_error("no PostgreSQL server found; run scripts/setup --test");
  return folder;
}

std::filesystem::path postgres_binaries_of(int major) {
  const auto from = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  std::filesystem::path cache = from("WALPOST_POSTGRES_CACHE");
  if (cache.empty() && geteuid() == 0) cache = "/var/cache/walpost/postgres";
  if (cache.empty() && !from("XDG_CACHE_HOME").empty())
    cache = from("XDG_CACHE_HOME") / "walpost/postgres";
  if (cache.empty()) cache = from("HOME") / ".cache/walpost/postgres";
  std::filesystem::path folder = cache / std::to_string(major) / "bin";
  if (!std::filesystem::exists(folder / "initdb"))
    throw std::runtime_error("no PostgreSQL in " + folder.string() +
                             "; run scripts/fetch-postgres " + std::to_string(major));
  return folder;
}

PostgresServer::PostgresServer(const PostgresOptions& options)
    : binaries_(options.binaries.empty() ? postgres_binaries() : options.binaries),
      data_(folder_.path() / "data"),
      port_(free_port()),
      settings_(default_settings(options.durable)) {
  give_to_server_user(folder_.path());
  if (options.own_system)
    make_cluster(binaries_, data_);
  else
    run_as_server_user({"cp", "-a", template_cluster(binaries_).string(), data_.string()});
  settings_["port"] = std::to_string(port_);
  settings_["unix_socket_directories"] = folder_.path().string();
  for (const auto& [name, value] : options.settings) settings_[name] = value;
  start();
}

PostgresServer::~PostgresServer() {
  session_.reset();
  if (!process_) return;
  // An immediate shutdown ends its children and removes its shared memory, SIGKILL does neither.
  process_->signal(SIGQUIT);
  process_->wait(Deadline::in(milliseconds(10000)));
}

void PostgresServer::start() {
  write_settings();
  ProcessOptions options;
  options.user = server_user();
  options.working_directory = "/";
  options.signal_at_death = SIGQUIT;
  process_ = std::make_unique<Process>(
      std::vector<std::string>{(binaries_ / "postgres").string(), "-D", data_.string()}, options);
  if (!process_->wait_for_line("database system is ready to accept connections",
                               Deadline::in(start_limit)))
    throw std::runtime_error("PostgreSQL didn't start: " + process_->standard_error());
}

void PostgresServer::stop(StopMode mode, Deadline deadline) {
  request_stop(mode);
  if (!wait_stopped(deadline))
    throw std::runtime_error("PostgreSQL didn't stop: " + process_->standard_error());
}

void PostgresServer::request_stop(StopMode mode) {
  session_.reset();
  process().signal(signal_of(mode));
}

bool PostgresServer::wait_stopped(Deadline deadline) {
  return process().wait(deadline).has_value();
}

void PostgresServer::kill() {
  session_.reset();
  const std::vector<pid_t> backends = children_of(process().pid());
  process().signal(SIGKILL);
  process().wait(Deadline::in(start_limit));
  // A new postmaster refuses the data directory for as long as one of the old backends lives.
  for (const pid_t backend : backends) kill_and_wait(backend);
}

void PostgresServer::set(const std::string& setting, const std::string& value) {
  settings_[setting] = value;
}

void PostgresServer::reload() {
  write_settings();
  value("SELECT pg_reload_conf()");
}

std::string PostgresServer::conninfo(Transport transport, const std::string& database,
                                     const std::string& user) const {
  const std::string host =
      transport == Transport::unix_socket ? folder_.path().string() : "127.0.0.1";
  return "host=" + host + " port=" + std::to_string(port_) + " user=" + user +
         " dbname=" + database;
}

std::string PostgresServer::url(const std::string& database, const std::string& user) const {
  return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

Process& PostgresServer::process() {
  if (!process_) throw std::logic_error("PostgreSQL was not started");
  return *process_;
}

void PostgresServer::exec(const std::string& sql) {
  session().exec(sql);
}
std::string PostgresServer::value(const std::string& sql) {
  return session().value(sql);
}
SqlRows PostgresServer::rows(const std::string& sql) {
  return session().rows(sql);
}

void PostgresServer::write_settings() const {
  // The file belongs to the server's user and is only written over, so that it stays theirs.
  std::ofstream file(data_ / "postgresql.conf", std::ios::trunc);
  for (const auto& [name, value] : settings_) file << name << " = " << quoted(value) << "\n";
  if (!file.flush()) throw std::runtime_error("can't write postgresql.conf");
}

Session& PostgresServer::session() {
  if (!session_) session_ = connect();
  return *session_;
}

}  // namespace walpost::test
