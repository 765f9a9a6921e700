#pragma once

#include "pgoutput/lsn.h"
#include "walpost/relay/clock.h"

namespace walpost::relay {

/// Recognises a server that is shutting down and waits for us: it asks for a reply thousands of
/// times a second while its WAL end stands still (WalSndDone in walsender.c waits until flush =
/// sent). In peace the server asks at most once per half wal_sender_timeout. Pure; one thread.
class ShutdownWatch {
 public:
  /// A keepalive that requests a reply arrived.
  void reply_requested(Instant now, pgoutput::Lsn wal_end);
  [[nodiscard]] bool stopping() const { return stopping_; }
  void reset() { *this = ShutdownWatch(); }

 private:
  Instant since_{};
  pgoutput::Lsn wal_end_;
  int count_ = 0;
  bool stopping_ = false;
};

}  // namespace walpost::relay
