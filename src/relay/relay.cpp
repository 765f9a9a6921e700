#include "walpost/relay/relay.h"

#include <spdlog/spdlog.h>

#include <random>

#include "walpost/relay/retry_policy.h"
#include "walpost/relay/session.h"

namespace walpost::relay {
namespace {

constexpr milliseconds leave_timeout{2000};
constexpr milliseconds settle_timeout{2000};
constexpr milliseconds short_settle{250};
// A session that lasted this long or delivered something was a good one.
constexpr milliseconds good_session{10000};

}  // namespace

struct Relay::Impl {
  Source& source;
  Sink& sink;
  Clock& clock;
  outbox::Mapper& mapper;
  outbox::Router& router;
  Options options;
  Backoff backoff;
  pgoutput::Lsn confirmed{};  // acknowledged by the brokers, whether the slot knows it or not
  Totals totals{};
  PoisonPolicy poison;
  std::size_t unfinished = 0;  // events that the latest session left unacknowledged
  std::optional<FailureKind> last_kind{};

  Outcome run();
  Outcome finish(Session& session);
  Outcome stopped_between_sessions();
  void end(Session& session, const SessionFailure& failure);
  void report(const SessionFailure& failure);
  bool pause(milliseconds duration);
};

Outcome Relay::Impl::run() {
  while (clock.stop_requests() == 0) {
    Session session(source, sink, clock, mapper, router, options, poison);
    const Instant started = clock.now();
    try {
      session.open(confirmed);
      last_kind.reset();
      spdlog::info("streaming from slot {} at {}", options.slot, session.confirmable().to_string());
      session.stream();
      return finish(session);
    } catch (const SessionFailure& failure) {
      end(session, failure);
      if (failure.kind() == FailureKind::interrupted) break;
      if (session.totals().events > 0 || clock.now() - started > good_session) backoff.reset();
      report(failure);
      const auto wait = retry_after(failure.kind(), backoff);
      if (!wait)
        return {failure.kind() == FailureKind::poisoned ? Outcome::End::poisoned
                                                        : Outcome::End::refused,
                confirmed};
      if (!pause(*wait)) break;
    }
  }
  return stopped_between_sessions();
}

// Some of what the latest session left unacknowledged may be visible, and is published again.
Outcome Relay::Impl::stopped_between_sessions() {
  if (unfinished == 0) return {Outcome::End::stopped, confirmed};
  spdlog::error("stopped before {} events were acknowledged; they will be published again",
                unfinished);
  return {Outcome::End::drain_timed_out, confirmed};
}

Outcome Relay::Impl::finish(Session& session) {
  spdlog::info("stopping: waiting for {} unacknowledged events", session.unacknowledged());
  const bool complete = session.drain();
  const auto slot_position = session.leave(leave_timeout);
  confirmed = session.confirmable();
  totals.events += session.totals().events;
  totals.transactions += session.totals().transactions;
  sink.discard();
  source.close();
  if (!slot_position)
    spdlog::warn("slot {}: its confirmed position could not be read back", options.slot);
  else if (*slot_position < confirmed)
    spdlog::warn("slot {}: stands at {} although {} was confirmed", options.slot,
                 slot_position->to_string(), confirmed.to_string());
  if (!complete) {
    spdlog::error("stopped before {} events were acknowledged; they will be published again",
                  session.unacknowledged());
    return {Outcome::End::drain_timed_out, confirmed};
  }
  spdlog::info("stopped: confirmed {}, {} events in {} transactions published",
               confirmed.to_string(), totals.events, totals.transactions);
  return {Outcome::End::stopped, confirmed};
}

// R10: whatever ended the session, its producer is gone before the next one begins.
void Relay::Impl::end(Session& session, const SessionFailure& failure) {
  const auto attempt = [](auto&& step) {
    try {
      step();
    } catch (const SessionFailure& second) {
      spdlog::debug("leaving the stream: {}", second.what());
    }
  };
  // What is under way before the one that was refused need not be sent again.
  const bool settles = failure.kind() == FailureKind::refused ||
                       failure.kind() == FailureKind::poisoned ||
                       failure.kind() == FailureKind::set_aside;
  if (settles)
    attempt([&] {
      session.settle(failure.kind() == FailureKind::set_aside ? short_settle : settle_timeout);
    });
  if (failure.side() != Side::postgres) attempt([&] { session.leave(leave_timeout); });
  sink.discard();
  source.close();
  if (session.opened()) unfinished = session.unacknowledged();
  // Whoever holds the slot has them now.
  if (failure.kind() == FailureKind::slot_active) unfinished = 0;
  if (session.confirmable() > confirmed) confirmed = session.confirmable();
  totals.events += session.totals().events;
  totals.transactions += session.totals().transactions;
}

void Relay::Impl::report(const SessionFailure& failure) {
  const std::string mend = failure.mend().empty() ? "" : "; to mend: " + failure.mend();
  switch (failure.kind()) {
    case FailureKind::interrupted:
      return;
    case FailureKind::slot_active:
      if (last_kind != FailureKind::slot_active)
        spdlog::info("standing by: {}{}", failure.what(), mend);
      break;
    case FailureKind::transient:
    case FailureKind::server_stopping:
    case FailureKind::set_aside:
      spdlog::warn("{}: {}{}", name(failure.side()), failure.what(), mend);
      break;
    case FailureKind::refused:
    case FailureKind::poisoned:
      spdlog::error("{}: {}{}", name(failure.kind()), failure.what(), mend);
      break;
  }
  last_kind = failure.kind();
}

// False when a stop was asked for.
bool Relay::Impl::pause(milliseconds duration) {
  const Instant until = clock.now() + duration;
  std::vector<pollfd> none;
  while (clock.stop_requests() == 0 && clock.now() < until) clock.wait(none, until);
  return clock.stop_requests() == 0;
}

Relay::Relay(Source& source, Sink& sink, Clock& clock, outbox::Mapper& mapper,
             outbox::Router& router, const Options& options, DeadLetterStore* letters)
    : impl_(new Impl{.source = source,
                     .sink = sink,
                     .clock = clock,
                     .mapper = mapper,
                     .router = router,
                     .options = options,
                     .backoff = Backoff({options.backoff_first, options.backoff_limit},
                                        options.jitter_seed.value_or(std::random_device{}())),
                     .poison = PoisonPolicy(options.poison, letters, clock)}) {}

Relay::~Relay() = default;

Outcome Relay::run() {
  return impl_->run();
}

}  // namespace walpost::relay
