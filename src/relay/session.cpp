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
                 outbox::Router& router, const Options& options)
    : source_(source),
      sink_(sink),
      clock_(clock),
      mapper_(mapper),
      router_(router),
      options_(options),
      status_(source, clock, options.confirm_spacing) {}

void Session::open(pgoutput::Lsn confirmed) {
  mapper_.forget();
  const StreamStart start = source_.open(confirmed);
  opened_ = true;
  tracker_.reset(start.start);
  status_.reset(start);
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
  return pending_.has_value() || sink_.in_flight() >= options_.in_flight_events ||
         sink_.in_flight_bytes() >= options_.in_flight_bytes;
}

void Session::serve_sink() {
  reports_.clear();
  sink_.poll(reports_);
  for (const Token token : reports_.delivered) tracker_.delivered(token);
  totals_.events += reports_.delivered.size();
  if (!reports_.failed.empty()) fail(reports_.failed.front());
  if (pending_ && sink_.publish(pending_->record, pending_->token) == Accepted::yes)
    pending_.reset();
}

// R4: whatever failed, this producer is finished.
void Session::fail(const DeliveryFailure& failure) {
  const std::string what = "topic " + failure.topic + ": " + failure.reason;
  switch (failure.kind) {
    case DeliveryFailure::Kind::retryable:
    case DeliveryFailure::Kind::fatal:
      throw SessionFailure(FailureKind::transient, Side::kafka,
                           failure.topic.empty() ? failure.reason : what);
    case DeliveryFailure::Kind::permanent:
      break;
  }
  outbox::Position position;
  std::string table = "unknown";
  if (failure.token) {
    const auto transaction = tracker_.find(*failure.token);
    if (transaction) position = {transaction->commit_lsn, failure.token->ordinal(), {}};
    table = mapper_.table_name(failure.token->table());
  }
  poisoned(failure.event_id, table, position, what);
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
  pacing_.after_hand_over(now, tracker_.outstanding_records() - outstanding_before);
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

void Session::on(const pgoutput::Keepalive& keepalive) {
  tracker_.keepalive(keepalive.wal_end);
  if (!keepalive.reply_requested) return;
  status_.reply_requested();
  shutdown_.reply_requested(clock_.now(), keepalive.wal_end);
}

void Session::on(const pgoutput::XLogData& data) {
  const auto decoded = pgoutput::decode(data.payload);
  if (const auto* error = std::get_if<pgoutput::DecodeError>(&decoded))
    throw outbox::ProtocolViolation(
        "undecodable pgoutput message after " + tracker_.received().to_string() + ": " +
        std::string(error->what) + " at byte " + std::to_string(error->offset));
  struct Visitor {
    Session& session;
    void operator()(const pgoutput::Begin& m) const { session.on(m); }
    void operator()(const pgoutput::Commit& m) const { session.on(m); }
    void operator()(const pgoutput::Relation& m) const { session.on(m); }
    void operator()(const pgoutput::Type& m) const { session.on(m); }
    void operator()(const pgoutput::Insert& m) const { session.on(m); }
    // Not events: an outbox row is an INSERT. Preflight warns of a publication that sends these.
    void operator()(const pgoutput::Origin&) const {}
    void operator()(const pgoutput::Update&) const {}
    void operator()(const pgoutput::Delete&) const {}
    void operator()(const pgoutput::Truncate&) const {}
    void operator()(const pgoutput::LogicalMessage&) const {}
    // Never asked for (R7): streaming and two_phase are off.
    void operator()(const pgoutput::StreamStart&) const { unasked(); }
    void operator()(const pgoutput::StreamStop&) const { unasked(); }
    void operator()(const pgoutput::StreamCommit&) const { unasked(); }
    void operator()(const pgoutput::StreamAbort&) const { unasked(); }
    void operator()(const pgoutput::BeginPrepare&) const { unasked(); }
    void operator()(const pgoutput::Prepare&) const { unasked(); }
    void operator()(const pgoutput::StreamPrepare&) const { unasked(); }
    void operator()(const pgoutput::CommitPrepared&) const { unasked(); }
    void operator()(const pgoutput::RollbackPrepared&) const { unasked(); }
    [[noreturn]] static void unasked() {
      throw outbox::ProtocolViolation(
          "the server streams uncommitted data, which was not asked for");
    }
  };
  std::visit(Visitor{*this}, std::get<pgoutput::Message>(decoded));
}

void Session::on(const pgoutput::Begin& begin) {
  if (tracker_.in_transaction())
    throw outbox::ProtocolViolation("a transaction begins inside another at " +
                                    begin.final_lsn.to_string());
  tracker_.begin(begin.final_lsn, begin.committed_at);
  position_ = {begin.final_lsn, 0, begin.committed_at};
}

void Session::on(const pgoutput::Commit& commit) {
  if (!tracker_.in_transaction() || commit.commit_lsn != position_.commit_lsn)
    throw outbox::ProtocolViolation("the commit at " + commit.commit_lsn.to_string() +
                                    " does not close the transaction that began");
  if (commit.end_lsn <= commit.commit_lsn)
    throw outbox::ProtocolViolation("the commit at " + commit.commit_lsn.to_string() +
                                    " ends before it starts");
  if (tracker_.open_records() > 0) ++totals_.transactions;
  tracker_.commit(commit.end_lsn);
}

void Session::on(const pgoutput::Relation& relation) {
  mapper_.learn(relation);
}

void Session::on(const pgoutput::Type& type) {
  mapper_.learn(type);
}

void Session::on(const pgoutput::Insert& insert) {
  if (!tracker_.in_transaction()) throw outbox::ProtocolViolation("a row outside a transaction");
  position_.ordinal = tracker_.open_records();
  const auto mapped = mapper_.map(insert, position_);
  if (const auto* poison = std::get_if<outbox::Poison>(&mapped))
    poisoned(poison->event_id, poison->table, position_, poison->what);
  const auto& event = std::get<outbox::Event>(mapped);
  const auto routed = router_.route(event);
  if (const auto* poison = std::get_if<outbox::Poison>(&routed))
    poisoned(poison->event_id, poison->table, position_, poison->what);
  const auto& record = std::get<outbox::Record>(routed);
  const Token token = tracker_.add_record(event.table->index());
  // What the sink doesn't take now stays valid: nothing is read before it was taken.
  if (sink_.publish(record, token) == Accepted::full) pending_ = Pending{record, token};
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

void Session::poisoned(const std::string& event_id, const std::string& table,
                       const outbox::Position& position, const std::string& what) {
  const pgoutput::Lsn past{position.commit_lsn.value + 1};
  throw SessionFailure(
      FailureKind::poisoned, Side::walpost,
      "event " + (event_id.empty() ? "without id" : event_id) + " of table " + table +
          ", commit LSN " + position.commit_lsn.to_string() + ", number " +
          std::to_string(position.ordinal) + " in its transaction: " + what,
      "mend the cause and start again, or publish the whole transaction by other "
      "means and skip it: "
      "SELECT pg_replication_slot_advance('" +
          options_.slot + "', '" + past.to_string() + "')" +
          (options_.position_file.empty() ? "" : ", and delete " + options_.position_file));
}

}  // namespace walpost::relay
