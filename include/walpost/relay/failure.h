#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace walpost::relay {

enum class Side { postgres, kafka, walpost };

/// What a failure that ends a session means for the process. Closed: the policy matches every one.
enum class FailureKind {
  transient,        ///< goes away by itself: reconnect with backoff
  slot_active,      ///< another instance holds the lease: wait as a standby
  server_stopping,  ///< PostgreSQL is shutting down: let go, come back after at least 10 s
  interrupted,      ///< the operator asked to stop while connecting
  refused,          ///< continuing could lose events: exit 3, an operator is needed
  poisoned,         ///< an event can't be published: exit 4
  set_aside,        ///< the brokers refused an event that is to be treated apart: reconnect at once
};

/// Ends a session. Thrown by Source and Sink implementations and by the loop; caught in one place,
/// Relay::run. `what()` says what happened to which object; `mend()` says what to do, and may be
/// empty for a transient failure.
class SessionFailure : public std::runtime_error {
 public:
  SessionFailure(FailureKind kind, Side side, const std::string& what, std::string mend = {})
      : std::runtime_error(what), kind_(kind), side_(side), mend_(std::move(mend)) {}

  [[nodiscard]] FailureKind kind() const { return kind_; }
  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] const std::string& mend() const { return mend_; }

 private:
  FailureKind kind_;
  Side side_;
  std::string mend_;
};

[[nodiscard]] std::string_view name(FailureKind kind);
[[nodiscard]] std::string_view name(Side side);

}  // namespace walpost::relay
