#include "walpost/relay/shutdown_watch.h"

namespace walpost::relay {
namespace {

constexpr int storm =
    20;  // requests within `period`; a real storm brings this many within a millisecond
constexpr milliseconds period{1000};

}  // namespace

void ShutdownWatch::reply_requested(Instant now, pgoutput::Lsn wal_end) {
  if (wal_end != wal_end_ || now - since_ > period) {
    wal_end_ = wal_end;
    since_ = now;
    count_ = 0;
  }
  if (++count_ >= storm) stopping_ = true;
}

}  // namespace walpost::relay
