#pragma once

#include <string>

#include "handles.h"
#include "query.h"
#include "sqlstate.h"
#include "wait.h"
#include "walpost/postgres/options.h"
#include "walpost/relay/clock.h"

namespace walpost::postgres {

/// An ordinary session for statements on schema walpost, made when it is needed. A commit is
/// durable whatever the role's synchronous_commit says. After an error the connection is given up,
/// and with it whatever transaction was open.
class DeadLetterSession {
 public:
  /// `clock` must outlive this.
  DeadLetterSession(Options options, relay::Clock& clock);

  /// Runs one statement. Throws relay::SessionFailure.
  Rows ask(const std::string& sql);
  /// Gives the connection up if it was idle for a minute: something on the way may have closed it.
  void renew_if_idle();
  void disconnect() { connection_.reset(); }

 private:
  void connect_if_needed(Wait& wait);

  Options options_;
  relay::Clock& clock_;
  Names names_;
  Handle connection_;
  relay::Instant used_{};
};

/// Taken, until the end of the transaction, by whoever parks, adds to or releases a key: "lock".
[[nodiscard]] std::string key_lock_sql(const std::string& slot, std::string_view key);

}  // namespace walpost::postgres
