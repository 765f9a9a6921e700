#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "handles.h"
#include "walpost/relay/failure.h"

namespace walpost::postgres {

/// An error as the server reports it, or, without a SQLSTATE, as libpq does.
struct ServerError {
  std::string sqlstate;  ///< five characters; empty when it isn't the server's word
  std::string message;
  std::string detail;
  bool needs_password = false;  ///< the server asked for one and none was configured
};

/// A statement failed; turned into a SessionFailure by whoever knows what it was for.
class SqlError : public std::runtime_error {
 public:
  explicit SqlError(ServerError error)
      : std::runtime_error(error.message), error_(std::move(error)) {}
  [[nodiscard]] const ServerError& error() const { return error_; }

 private:
  ServerError error_;
};

/// What was being done when the server refused: the same SQLSTATE means different things.
enum class Phase {
  connecting,
  inspecting,  ///< catalogue reads
  starting,    ///< START_REPLICATION
  streaming,
  setting_up,    ///< DDL and slot creation of `walpost init`
  dead_letters,  ///< statements on schema walpost
};

/// The objects a message names.
struct Names {
  std::string slot;
  std::string publication;
  std::string role;
  std::string database;
};

struct Verdict {
  relay::FailureKind kind = relay::FailureKind::transient;
  std::string mend;  ///< empty where waiting is all there is to do
};

/// What an error means for the session. Pure. Knows messages by SQLSTATE only, as their text is
/// translated, except to tell a server that stops from one that starts (both are 57P03).
[[nodiscard]] Verdict classify(Phase phase, const ServerError& error, const Names& names);

/// The failure to throw for an error. Leaves out what could hold data of a row.
[[nodiscard]] relay::SessionFailure failure(Phase phase, const ServerError& error,
                                            const Names& names);

/// The error that a result holds; also the connection's own where the result is null.
[[nodiscard]] ServerError error_of(const PGresult* result, const PGconn* connection);

/// Reads libpq's verbose text of a failed attempt to connect, which is the only place where libpq
/// tells the SQLSTATE of a refusal. One line, without the server's source locations. Where several
/// hosts were tried, the mildest of their errors: if one may come back, waiting is right.
[[nodiscard]] ServerError parse_connect_error(std::string_view text);

}  // namespace walpost::postgres
