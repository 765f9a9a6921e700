#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pgoutput/messages.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/relay/ack_tracker.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/pacing.h"
#include "walpost/relay/poison_policy.h"
#include "walpost/relay/relay.h"
#include "walpost/relay/shutdown_watch.h"
#include "walpost/relay/sink.h"
#include "walpost/relay/source.h"
#include "walpost/relay/status_reporter.h"

namespace walpost::relay {

/// What a session did, for the log.
struct Totals {
  std::uint64_t events = 0;        ///< records acknowledged
  std::uint64_t dead_letters = 0;  ///< events set aside
  std::uint64_t transactions = 0;  ///< transactions received with at least one event
};

/// One connection's life: from START_REPLICATION to its end. Every function may throw
/// SessionFailure, after which only confirmable(), totals() and leave() make sense. One thread.
class Session {
 public:
  Session(Source& source, Sink& sink, Clock& clock, outbox::Mapper& mapper, outbox::Router& router,
          const Options& options, PoisonPolicy& poison);

  /// Opens the stream, then the producer: a standby needs no producer. `confirmed` as in
  /// Source::open.
  void open(pgoutput::Lsn confirmed);
  /// Publishes until a stop is asked for.
  void stream();
  /// Finishes what was begun: reads to the end of a transaction of which records were published,
  /// waits for acknowledgements, confirms. False if the deadline or a second stop request came
  /// first.
  bool drain();
  /// Waits for the reports that are still to come, reading nothing: fewer duplicates after the next
  /// start. Failures among them change nothing any more.
  void settle(milliseconds timeout);
  /// Confirms the acknowledged prefix one last time and ends the stream in good order. Returns the
  /// slot's own position, or nothing if it couldn't be learnt.
  std::optional<pgoutput::Lsn> leave(milliseconds timeout);

  [[nodiscard]] pgoutput::Lsn confirmable() const { return tracker_.confirmable(); }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  /// The stream was begun.
  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] std::size_t unacknowledged() const { return tracker_.outstanding_records(); }

 private:
  /// An event that couldn't be handed on when it was read. Nothing is read before it is, so that
  /// its views stay valid.
  struct Pending {
    outbox::Event event;
    Token token;
    std::optional<outbox::Record> record;  ///< nothing: it can't be published
    std::string why_not;
  };

  [[nodiscard]] Progress progress();
  [[nodiscard]] bool all_confirmable();
  [[nodiscard]] bool paused() const;
  [[nodiscard]] bool server_stopping() const;
  void serve_sink();
  void serve_pending();
  void read();
  std::size_t take_frames(std::size_t limit);
  void take(std::string_view frame);
  void wait(bool reading);
  void let_go_of_stopping_server();
  bool tell();

  [[nodiscard]] bool hand_on(const Pending& pending);
  [[nodiscard]] bool set_aside(const Pending& pending, const DeadLetter& letter);
  [[nodiscard]] bool send_letter(const Pending& pending, const DeadLetter& letter);
  [[nodiscard]] bool keep_waiting(const Pending& pending, const DeadLetter& letter);
  [[nodiscard]] DeadLetter letter_of(const Pending& pending, std::string_view reason);
  void done_with(const Pending& pending, const DeadLetter& letter);
  [[noreturn]] void fail(const std::vector<DeliveryFailure>& failures);
  [[noreturn]] void refused(const std::vector<const DeliveryFailure*>& refusals);
  void expect_room_for(const DeadLetter& letter);
  static void report(const DeadLetter& letter, const std::string& place);
  [[noreturn]] void poisoned(const DeadLetter& letter, const std::string& what);
  [[nodiscard]] outbox::Position position_of(Token token) const;

  void on(const pgoutput::XLogData& data);
  void on(const pgoutput::Keepalive& keepalive);
  void on(const pgoutput::Begin& begin);
  void on(const pgoutput::Commit& commit);
  void on(const pgoutput::Relation& relation);
  void on(const pgoutput::Type& type);
  void on(const pgoutput::Insert& insert);

  Source& source_;
  Sink& sink_;
  Clock& clock_;
  outbox::Mapper& mapper_;
  outbox::Router& router_;
  const Options& options_;
  PoisonPolicy& poison_;

  AckTracker tracker_;
  StatusReporter status_;
  Pacing pacing_;
  ShutdownWatch shutdown_;
  bool opened_ = false;
  std::string forget_position_;  // as in StreamStart
  outbox::Position position_;
  std::optional<Pending> pending_;
  std::optional<outbox::Position> alone_;  ///< a suspect under way: nothing else goes out
  std::vector<outbox::Header> letter_headers_;
  Reports reports_;
  std::vector<pollfd> fds_;
  Totals totals_;
};

}  // namespace walpost::relay
