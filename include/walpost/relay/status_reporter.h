#pragma once

#include "walpost/relay/clock.h"
#include "walpost/relay/source.h"

namespace walpost::relay {

/// How far a stream is.
struct Progress {
  pgoutput::Lsn received;     ///< the highest position that the server has sent
  pgoutput::Lsn confirmable;  ///< what may be confirmed: see AckTracker and Sink::secure()
};

/// Tells the server how far we are: the only sender of status updates, and so the only place that
/// moves the slot (rule R3). Confirms soon after the acknowledged prefix grew, answers when asked,
/// and gives a sign of life often enough to outlive wal_sender_timeout. One thread.
class StatusReporter {
 public:
  /// A confirmation follows an acknowledgement within `confirm_spacing`.
  StatusReporter(Source& source, const Clock& clock, milliseconds confirm_spacing)
      : source_(source), clock_(clock), confirm_spacing_(confirm_spacing) {}

  /// A new stream. Sends nothing yet.
  void reset(const StreamStart& start);
  /// The server asked for a reply.
  void reply_requested() { asked_ = true; }
  /// Sends what is due, if anything.
  void serve(const Progress& progress);
  /// When serve() is to be called next even if nothing happens.
  [[nodiscard]] Instant next_due(const Progress& progress) const;
  /// Sends now, whatever is due. Throws std::logic_error instead of confirming what must not be.
  void send(const Progress& progress);
  [[nodiscard]] pgoutput::Lsn sent_flush() const { return sent_flush_; }

 private:
  [[nodiscard]] bool confirms_more(const Progress& progress) const;

  Source& source_;
  const Clock& clock_;
  milliseconds confirm_spacing_;
  milliseconds interval_{};
  Instant last_sent_{};
  pgoutput::Lsn sent_flush_;
  bool asked_ = false;
};

}  // namespace walpost::relay
