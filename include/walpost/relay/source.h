#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pgoutput/framing.h"
#include "walpost/relay/stored_position.h"

namespace walpost::relay {

/// What a newly opened stream starts from.
struct StreamStart {
  pgoutput::Lsn
      start;  ///< the server sends only transactions whose commit record starts here or later
  std::chrono::milliseconds sender_timeout{60000};  ///< wal_sender_timeout; 0 = none
  SystemIdentity identity{};                        ///< of the server
  /// What makes a position kept elsewhere forget this slot, for messages; empty: none is kept.
  std::string forget_position{};
};

/// A logical replication stream: the edge to PostgreSQL. One thread. Every failure is thrown as a
/// SessionFailure of Side::postgres; after one, only close() and open() may be called.
class Source {
 public:
  virtual ~Source() = default;

  /// Connects, runs every preflight check, starts the stream. `confirmed` is the highest LSN this
  /// process has confirmed before, or zero; a slot that stands beyond it was moved by somebody else
  /// and is refused. Blocks for at most the connect timeout; interruptible.
  virtual StreamStart open(pgoutput::Lsn confirmed) = 0;

  /// Appends what to wait for. With `reading` false the stream's socket is watched for loss only.
  virtual void watch(std::vector<pollfd>& fds, bool reading) = 0;

  /// Takes in what the sockets hold, without blocking. Call after every wait. With `reading` false
  /// the stream's socket is left alone.
  virtual void receive(bool reading) = 0;

  /// The next complete frame (a CopyData payload) already taken in, or nothing. The view is valid
  /// until the next call of next(), open() or close().
  virtual std::optional<std::string_view> next() = 0;

  /// Sends a status update without blocking; what the socket doesn't take is kept and sent later.
  /// Only the loop's status function may call it.
  virtual void send_status(const pgoutput::StandbyStatus& status) = 0;

  /// True once the server is known to be shutting down by other signs than its keepalives.
  [[nodiscard]] virtual bool server_stopping() const = 0;

  /// Ends the stream in good order: CopyDone, reads to the end, asks the slot where it stands.
  /// Returns its confirmed_flush_lsn, or nothing if that couldn't be learnt in time.
  virtual std::optional<pgoutput::Lsn> finish(std::chrono::milliseconds timeout) = 0;

  /// Drops the connection at once. Never fails.
  virtual void close() noexcept = 0;
};

}  // namespace walpost::relay
