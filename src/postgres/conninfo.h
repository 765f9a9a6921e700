#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "handles.h"
#include "walpost/postgres/options.h"

namespace walpost::postgres {

/// Connection parameters by libpq keyword. May hold a password: never logged.
class Conninfo {
 public:
  /// Reads a libpq conninfo string or URI. Throws relay::SessionFailure (refused) without quoting
  /// the text, which may hold a password.
  [[nodiscard]] static Conninfo parse(const std::string& url);

  void set(const std::string& keyword, const std::string& value) { values_[keyword] = value; }
  /// Sets what the user did not.
  void set_default(const std::string& keyword, const std::string& value) {
    values_.emplace(keyword, value);
  }
  void erase(const std::string& keyword) { values_.erase(keyword); }
  /// Empty where it isn't set.
  [[nodiscard]] std::string get(const std::string& keyword) const;

  /// How many hosts are named; at least 1.
  [[nodiscard]] std::size_t hosts() const;

  /// Begins a connection without waiting, except that libpq looks up host names here and now. Never
  /// null; throws std::bad_alloc.
  [[nodiscard]] Handle start() const;

 private:
  std::map<std::string, std::string> values_;
};

/// For one walsender that speaks SQL too: replication=database, liveness settings where the user
/// gave none, and the primary among several hosts.
[[nodiscard]] Conninfo replication_conninfo(const Options& options);

/// For an ordinary session.
[[nodiscard]] Conninfo session_conninfo(const Options& options);

/// For an ordinary session on the very server that `connection` talks to; needs no name look-up.
[[nodiscard]] Conninfo same_server(const Options& options, const PGconn* connection);

/// What one attempt may take: the time of one host for each host.
[[nodiscard]] std::chrono::milliseconds attempt_timeout(const Options& options,
                                                        const Conninfo& conninfo);

}  // namespace walpost::postgres
