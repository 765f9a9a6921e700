#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "connect.h"
#include "slot_health.h"
#include "walpost/relay/clock.h"

namespace walpost::postgres {

/// A second, ordinary session, opened every now and then for one question: how is the slot? Its
/// being turned away is also how a shutdown of the server is noticed while nothing is read from the
/// stream. It leaves at once, as a smart shutdown waits for sessions. Never blocks, never throws
/// for what goes wrong on its connection: a failed probe is only a missing answer. One thread.
class SlotProbe {
 public:
  SlotProbe(relay::Clock& clock, std::string slot) : clock_(clock), slot_(std::move(slot)) {}

  /// Begins to probe, the first time after the usual interval.
  void start(Conninfo server);
  void stop() noexcept;

  void watch(std::vector<pollfd>& fds) const;
  /// Does what is due and possible. With `reading` false probes follow each other closely.
  void advance(bool reading);

  [[nodiscard]] bool server_stopping() const { return server_stopping_; }
  [[nodiscard]] const std::optional<SlotHealth>& health() const { return health_; }

 private:
  void connect();
  void ask(Handle session);
  void read_answer();
  void take_answer(Result result);
  void give_up(const std::string& why);
  void leave() noexcept;

  relay::Clock& clock_;
  std::string slot_;
  std::optional<Conninfo> server_;
  std::optional<ConnectAttempt> attempt_;  // while connecting
  Handle session_;                         // while waiting for the answer
  relay::Instant begun_at_;                // of the newest probe
  bool server_stopping_ = false;
  std::optional<SlotHealth> health_;
  std::optional<relay::Instant> warned_at_;
};

}  // namespace walpost::postgres
