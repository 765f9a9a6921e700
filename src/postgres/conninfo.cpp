#include "conninfo.h"

#include <algorithm>
#include <new>
#include <vector>

#include "walpost/relay/failure.h"

namespace walpost::postgres {

namespace {

using std::chrono::milliseconds;

// A dead peer is noticed by the kernel after about 10 + 3 * 5 s even where nobody reads.
constexpr const char* keepalives_idle_seconds = "10";
constexpr const char* keepalives_interval_seconds = "5";
constexpr const char* keepalives_count = "3";

// TCP_USER_TIMEOUT bounds the handshake as well, so libpq goes on to the next of several hosts when
// one is a black hole: its non-blocking interface has no time limit of its own.
void add_liveness(Conninfo& conninfo, milliseconds connect_timeout) {
  conninfo.set_default("keepalives", "1");
  conninfo.set_default("keepalives_idle", keepalives_idle_seconds);
  conninfo.set_default("keepalives_interval", keepalives_interval_seconds);
  conninfo.set_default("keepalives_count", keepalives_count);
  conninfo.set_default("tcp_user_timeout", std::to_string(connect_timeout.count()));
}

Conninfo base_conninfo(const Options& options) {
  Conninfo conninfo = Conninfo::parse(options.url);
  conninfo.set_default("fallback_application_name", "walpost");
  conninfo.set("client_encoding", "UTF8");
  add_liveness(conninfo, options.connect_timeout);
  // A standby listed first would be taken for a server that has lost its slot.
  if (conninfo.hosts() > 1) conninfo.set_default("target_session_attrs", "primary");
  return conninfo;
}

}  // namespace

Conninfo Conninfo::parse(const std::string& url) {
  char* error = nullptr;
  std::unique_ptr<PQconninfoOption, FreeConninfo> options(PQconninfoParse(url.c_str(), &error));
  const CopyBuffer owned_error(error);
  if (options == nullptr) {
    throw relay::SessionFailure(
        relay::FailureKind::refused, relay::Side::postgres,
        "the PostgreSQL connection string can't be read (it isn't shown, as "
        "it may hold a password)",
        "set postgres.url to a libpq URI such as "
        "postgresql://walpost@localhost/app, or to keyword=value pairs; "
        "percent-encode special characters in a URI");
  }
  Conninfo conninfo;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) conninfo.set(option->keyword, option->val);
  }
  return conninfo;
}

std::string Conninfo::get(const std::string& keyword) const {
  const auto found = values_.find(keyword);
  return found == values_.end() ? std::string() : found->second;
}

std::size_t Conninfo::hosts() const {
  const std::string named = get("hostaddr").empty() ? get("host") : get("hostaddr");
  return 1 + static_cast<std::size_t>(std::count(named.begin(), named.end(), ','));
}

Handle Conninfo::start() const {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : values_) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  Handle handle(PQconnectStartParams(keywords.data(), values.data(), 0));
  if (handle == nullptr) throw std::bad_alloc();
  return handle;
}

Conninfo replication_conninfo(const Options& options) {
  Conninfo conninfo = base_conninfo(options);
  conninfo.set("replication", "database");
  return conninfo;
}

Conninfo session_conninfo(const Options& options) {
  Conninfo conninfo = base_conninfo(options);
  conninfo.erase("replication");
  return conninfo;
}

Conninfo same_server(const Options& options, const PGconn* connection) {
  Conninfo conninfo = session_conninfo(options);
  const auto pin = [&](const char* keyword, const char* value) {
    if (value != nullptr && *value != '\0') {
      conninfo.set(keyword, value);
    } else {
      conninfo.erase(keyword);
    }
  };
  const std::string host = PQhost(connection);
  const bool is_unix_socket = !host.empty() && (host.front() == '/' || host.front() == '@');
  pin("host", host.c_str());
  pin("hostaddr", is_unix_socket ? nullptr : PQhostaddr(connection));
  pin("port", PQport(connection));
  conninfo.set("target_session_attrs", "any");
  return conninfo;
}

milliseconds attempt_timeout(const Options& options, const Conninfo& conninfo) {
  return options.connect_timeout * static_cast<int>(conninfo.hosts());
}

}  // namespace walpost::postgres
