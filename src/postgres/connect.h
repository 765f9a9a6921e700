#pragma once

#include <memory>
#include <string>

#include "conninfo.h"
#include "handles.h"
#include "sqlstate.h"
#include "wait.h"

namespace walpost::postgres {

/// One attempt to connect that never blocks (but see Conninfo::start): wait for `events()` on
/// `socket()`, call advance(), until it is no longer `working`.
class ConnectAttempt {
 public:
  enum class Progress { working, connected, failed };

  explicit ConnectAttempt(const Conninfo& conninfo);

  [[nodiscard]] int socket() const { return PQsocket(handle_.get()); }
  [[nodiscard]] short events() const;
  /// Does what is possible now. Call any time.
  Progress advance();
  /// Why it failed.
  [[nodiscard]] ServerError error() const;
  /// The established connection, in non-blocking mode.
  [[nodiscard]] Handle release();
  [[nodiscard]] const PGconn* connection() const { return handle_.get(); }

 private:
  Handle handle_;
  PostgresPollingStatusType status_ = PGRES_POLLING_WRITING;
};

/// Connects, waiting as `wait` allows. Throws relay::SessionFailure. `names.role` and
/// `names.database` are filled in with what libpq made of the parameters.
[[nodiscard]] Handle connect(const Conninfo& conninfo, Names& names, Wait& wait);

}  // namespace walpost::postgres
