#include "walpost/relay/status_reporter.h"

#include <algorithm>
#include <stdexcept>

namespace walpost::relay {
namespace {

// A sign of life at least three times per wal_sender_timeout, and often enough that an idle slot
// advances every few seconds: the reply it asks for carries the server's position.
constexpr milliseconds longest_interval{5000};
constexpr milliseconds shortest_interval{10};
constexpr int signs_of_life_per_timeout = 3;

// A server that is shutting down asks thousands of times a second; answering a hundred is enough.
constexpr milliseconds reply_spacing{10};

}  // namespace

void StatusReporter::reset(const StreamStart& start) {
  interval_ = longest_interval;
  if (start.sender_timeout.count() > 0)
    interval_ = std::clamp(start.sender_timeout / signs_of_life_per_timeout, shortest_interval,
                           longest_interval);
  // Half of it, so that a late wake-up still keeps the promise.
  interval_ = std::max(interval_ / 2, shortest_interval);
  last_sent_ = Instant{};
  sent_flush_ = start.start;
  asked_ = false;
}

bool StatusReporter::confirms_more(const Progress& progress) const {
  return progress.confirmable > sent_flush_;
}

Instant StatusReporter::next_due(const Progress& progress) const {
  Instant due = last_sent_ + interval_;
  if (confirms_more(progress)) due = std::min(due, last_sent_ + confirm_spacing_);
  if (asked_) due = std::min(due, last_sent_ + reply_spacing);
  return due;
}

void StatusReporter::serve(const Progress& progress) {
  if (clock_.now() >= next_due(progress)) send(progress);
}

void StatusReporter::send(const Progress& progress) {
  const pgoutput::Lsn flush = progress.confirmable;
  // The server checks neither, and an over-confirmed slot has lost events for good.
  if (flush < sent_flush_) throw std::logic_error("status: the flush position would go back");
  if (flush > progress.received)
    throw std::logic_error("status: the flush position would pass what was received");
  const Instant now = clock_.now();
  const bool sign_of_life = now - last_sent_ >= interval_;
  source_.send_status({.written = progress.received,
                       .flushed = flush,
                       .applied = flush,
                       .at = clock_.utc(),
                       .reply_requested = sign_of_life});
  last_sent_ = now;
  sent_flush_ = flush;
  asked_ = false;
}

}  // namespace walpost::relay
