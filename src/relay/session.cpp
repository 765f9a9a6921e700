#include "walpost/relay/session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <variant>

namespace walpost::relay {
namespace {

// Bounds one turn, so that reports and status updates are never far away.
constexpr std::size_t frames_per_turn = 4096;
constexpr std::size_t frames_between_reads = 128;
// No wait is longer: the source's own timers (its probe of the slot) run on the loop's turns.
constexpr milliseconds longest_wait{1000};
// How long a server that is shutting down waits for acknowledgements that are on their way.
constexpr milliseconds shutdown_grace{1000};

}  // namespace

Session::Session(Source& source, Sink& sink, Clock& clock, outbox::Mapper& mapper,
                 outbox::Router& router, const Options& options, PoisonPolicy& poison)
    : source_(source),
      sink_(sink),
      clock_(clock),
      mapper_(mapper),
      router_(router),
      options_(options),
      poison_(poison),
      status_(source, clock, options.confirm_spacing) {}

void Session::open(pgoutput::Lsn confirmed) {
  mapper_.forget();
  const StreamStart start = source_.open(confirmed);
  opened_ = true;
  forget_position_ = start.forget_position;
  tracker_.reset(start.start);
  status_.reset(start);
  poison_.begin_stream(start);
  sink_.open(start);
}

// One turn, in order of priority:
//  1. reports of the sink: they free memory, advance the prefix and bring bad news first;
//  2. status: never later than the server expects, whatever the sink does;
//  3. a server that is shutting down is let go;
//  4. reading and handing on, unless paused by the limits (R6), at a pace that serves many rows at
//  once;
//  5. one wait for the next of all these.
void Session::stream() {
  while (clock_.stop_requests() == 0) {
    serve_sink();
    status_.serve(progress());
    if (server_stopping()) let_go_of_stopping_server();
    if (!paused()) read();
    wait(!paused());
  }
}

// One turn, in order of priority: as above, but reading goes on only to the end of a transaction of
// which records are out already, since they would be published again after the next start.
bool Session::drain() {
  const Instant deadline = clock_.now() + options_.drain_timeout;
  pacing_ = Pacing();  // the little that is still read comes at once
  while (clock_.stop_requests() < 2 && clock_.now() < deadline) {
    serve_sink();
    status_.serve(progress());
    if (server_stopping()) settle(shutdown_grace);
    const bool half_published = tracker_.open_records() > 0;
    if (!half_published && all_confirmable()) return true;
    if (server_stopping()) return false;
    const bool reading = half_published && !paused();
    if (reading) {
      source_.receive(true);
      while (tracker_.open_records() > 0 && !paused() && take_frames(1) > 0) {
      }
    }
    wait(reading && tracker_.open_records() > 0);
  }
  return false;
}

std::optional<pgoutput::Lsn> Session::leave(milliseconds timeout) {
  if (!opened_) return std::nullopt;
  status_.send(progress());
  return source_.finish(timeout);
}

Progress Session::progress() {
  return {tracker_.received(), sink_.secure(tracker_.confirmable(), tracker_.sealed())};
}

// Delivered, and noted where positions are kept.
bool Session::all_confirmable() {
  return tracker_.outstanding_records() == 0 && progress().confirmable == tracker_.confirmable();
}

bool Session::server_stopping() const {
  return shutdown_.stopping() || source_.server_stopping();
}

bool Session::paused() const {
  return pending_ || alone_ || sink_.in_flight() >= options_.in_flight_events ||
         sink_.in_flight_bytes() >= options_.in_flight_bytes;
}

void Session::serve_sink() {
  reports_.clear();
  sink_.poll(reports_);
  for (const Token token : reports_.delivered) tracker_.delivered(token);
  totals_.events += reports_.delivered.size();
  if (!reports_.failed.empty()) fail(reports_.failed);
  serve_pending();
}

void Session::read() {
  const Instant now = clock_.now();
  if (now >= pacing_.next_read()) {
    source_.receive(true);
    pacing_.after_read(now);
  }
  if (now < pacing_.next_hand_over()) return;
  const std::size_t outstanding_before = tracker_.outstanding_records();
  // The socket is emptied in between: a burst takes longer than its buffer lasts.
  std::size_t frames = 0;
  std::size_t taken = 0;
  do {
    taken = take_frames(frames_between_reads);
    frames += taken;
    if (taken == frames_between_reads) source_.receive(true);
  } while (taken == frames_between_reads && frames < frames_per_turn && !paused());
  const bool more = taken == frames_between_reads && !paused();
  pacing_.after_hand_over(now, tracker_.outstanding_records() - outstanding_before,
                          more ? Pacing::HandOver::cut_short : Pacing::HandOver::complete);
}

std::size_t Session::take_frames(std::size_t limit) {
  std::size_t taken = 0;
  try {
    while (taken < limit && !paused()) {
      const auto frame = source_.next();
      if (!frame) break;
      take(*frame);
      ++taken;
    }
  } catch (const outbox::UnmappableTable& e) {
    throw SessionFailure(FailureKind::refused, Side::walpost, e.what(), e.mend());
  } catch (const outbox::TemplateError& e) {
    throw SessionFailure(FailureKind::refused, Side::walpost, e.what(),
                         "correct the template under route: in the configuration");
  } catch (const outbox::ProtocolViolation& e) {
    throw SessionFailure(FailureKind::refused, Side::walpost, e.what(),
                         "nothing was skipped; report this with the versions of both programs");
  }
  return taken;
}

void Session::take(std::string_view frame) {
  const auto parsed = pgoutput::parse_frame(frame);
  if (const auto* error = std::get_if<pgoutput::DecodeError>(&parsed))
    throw outbox::ProtocolViolation("unreadable replication frame: " + std::string(error->what) +
                                    " at byte " + std::to_string(error->offset));
  std::visit([this](const auto& one) { on(one); }, std::get<pgoutput::Frame>(parsed));
}

void Session::wait(bool reading) {
  fds_.clear();
  Instant until = std::min(clock_.now() + longest_wait, status_.next_due(progress()));
  // While rows are collected every small write would wake us for nothing.
  const bool collecting = reading && pacing_.collecting();
  if (collecting) {
    until = std::min({until, pacing_.next_read(), pacing_.next_hand_over()});
  } else {
    fds_.push_back({sink_.wake_fd(), POLLIN, 0});
    source_.watch(fds_, reading);
  }
  clock_.wait(fds_, until);
  if (!reading) source_.receive(false);
}

void Session::let_go_of_stopping_server() {
  settle(shutdown_grace);
  status_.send(progress());
  throw SessionFailure(FailureKind::server_stopping, Side::postgres,
                       "the server is shutting down; " +
                           std::to_string(tracker_.outstanding_records()) +
                           " unacknowledged events will be read again");
}

// Whether the server could be told how far things are.
bool Session::tell() {
  try {
    status_.serve(progress());
    return true;
  } catch (const SessionFailure& failure) {
    spdlog::debug("settling: {}", failure.what());
    return false;
  }
}

void Session::settle(milliseconds timeout) {
  const Instant deadline = clock_.now() + timeout;
  bool heard = true;  // by the server: one that has ended the stream is no reason to give up
  while (!all_confirmable() && sink_.in_flight() > 0 && clock_.now() < deadline &&
         clock_.stop_requests() < 2) {
    reports_.clear();
    sink_.poll(reports_);
    for (const Token token : reports_.delivered) tracker_.delivered(token);
    totals_.events += reports_.delivered.size();
    if (heard) heard = tell();
    fds_.assign(1, {sink_.wake_fd(), POLLIN, 0});
    clock_.wait(fds_, heard ? std::min(deadline, status_.next_due(progress())) : deadline);
  }
}

}  // namespace walpost::relay
