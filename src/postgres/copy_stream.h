#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "handles.h"
#include "pgoutput/framing.h"
#include "sqlstate.h"
#include "wait.h"

namespace walpost::postgres {

/// A connection on which START_REPLICATION has succeeded: frames in, status updates out. Never
/// blocks but in finish(). One thread. Everything it throws is a relay::SessionFailure.
class CopyStream {
 public:
  /// `connection` must be in COPY BOTH mode and non-blocking. `read_timeout`: see Options.
  CopyStream(Handle connection, Names names, relay::Clock& clock, relay::milliseconds read_timeout);

  void watch(std::vector<pollfd>& fds, bool reading) const;
  void receive(bool reading);
  /// Valid until the next call of next(), or the end of this object.
  [[nodiscard]] std::optional<std::string_view> next();
  void send_status(const pgoutput::StandbyStatus& status);

  /// CopyDone, reads to the end. The connection then takes statements again.
  void end(Wait& wait);
  [[nodiscard]] PGconn* connection() const { return connection_.get(); }

 private:
  /// What the notice callback leaves behind; at an address that stays.
  struct Notices {
    std::optional<ServerError> fatal;
  };
  static void take_notice(void* notices, const PGresult* notice);

  [[nodiscard]] bool take_frame();
  [[noreturn]] void throw_end_of_stream();
  void throw_if_notified() const;
  void check_silence();
  void flush_output();
  void put(const pgoutput::StandbyStatus& status);
  [[nodiscard]] relay::SessionFailure lost(const std::string& why) const;

  std::unique_ptr<Notices> notices_ = std::make_unique<Notices>();  // outlives the connection
  Handle connection_;
  Names names_;
  relay::Clock& clock_;
  relay::milliseconds read_timeout_;
  bool encrypted_;
  CopyBuffer frame_;
  std::string_view frame_view_;
  relay::Instant heard_at_;         // when bytes last arrived, or reading was off
  bool heard_ = false;              // a frame was taken since then
  bool emptied_ = true;             // libpq held no whole frame when last asked
  int reads_ahead_ = 0;             // since then
  std::optional<std::string> eof_;  // the socket's end; what was read before is still to be taken
  bool output_pending_ = false;     // libpq holds bytes that the socket didn't take
  std::optional<pgoutput::StandbyStatus> newest_;  // waits for those; only the newest matters
};

}  // namespace walpost::postgres
