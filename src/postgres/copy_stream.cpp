#include "copy_stream.h"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <utility>

#include "query.h"

namespace walpost::postgres {

namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

// Decrypted bytes may wait inside the TLS library, where poll() doesn't see them: at most one
// record of 16 KiB, which this many reads of at least 8 KiB take in. What a further record may
// leave behind is read with the loop's next turn, a second later at most.
constexpr int encrypted_read_rounds = 3;

// libpq keeps all that it reads, in one buffer that only grows, and moves what is left in it at
// each read: a caller that takes less than arrives would end up with a whole backlog in there. It
// is emptied first, after this many reads that found frames left.
constexpr int most_reads_ahead = 16;

const char* or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

CopyStream::CopyStream(Handle connection, Names names, relay::Clock& clock,
                       relay::milliseconds read_timeout)
    : connection_(std::move(connection)),
      names_(std::move(names)),
      clock_(clock),
      read_timeout_(read_timeout),
      encrypted_(is_encrypted(connection_.get())),
      heard_at_(clock.now()) {
  PQsetNoticeReceiver(connection_.get(), take_notice, notices_.get());
}

// PostgreSQL 18 only warns when the publication is missing at a place in the WAL, skips the change
// and goes on: the one notice that means loss. The SQLSTATE is known, the text is translated.
void CopyStream::take_notice(void* notices, const PGresult* notice) {
  ServerError error{or_empty(PQresultErrorField(notice, PG_DIAG_SQLSTATE)),
                    or_empty(PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY)),
                    or_empty(PQresultErrorField(notice, PG_DIAG_MESSAGE_DETAIL))};
  spdlog::warn("postgresql: {} [SQLSTATE {}]", error.message, error.sqlstate);
  const std::string_view severity =
      or_empty(PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED));
  if (severity == "WARNING" && (error.sqlstate == "55000" || error.sqlstate == "42704")) {
    auto* const kept = static_cast<Notices*>(notices);
    error.sqlstate = "42704";  // as older servers say it
    if (!kept->fatal) kept->fatal = std::move(error);
  }
}

SessionFailure CopyStream::lost(const std::string& why) const {
  return {FailureKind::transient, Side::postgres,
          "the replication connection of slot " + names_.slot + " was lost: " + why};
}

void CopyStream::watch(std::vector<pollfd>& fds, bool reading) const {
  // Not reading still has to notice the peer's end, which without POLLRDHUP shows as readable only.
  short events = reading ? POLLIN : POLLRDHUP;
  if (output_pending_) events = static_cast<short>(events | POLLOUT);
  fds.push_back({PQsocket(connection_.get()), events, 0});
}

void CopyStream::receive(bool reading) {
  flush_output();
  if (!reading) {
    heard_at_ = clock_.now();
    const short state = ready_now(PQsocket(connection_.get()), POLLRDHUP);
    // What the server sent last stays unread; nothing of it is confirmed, so it is sent again.
    if (state != 0) throw lost("the server closed it");
    return;
  }
  check_silence();
  if (eof_) return;  // next() tells
  if (!emptied_ && ++reads_ahead_ > most_reads_ahead) return;
  if (PQconsumeInput(connection_.get()) == 0) eof_ = error_of(nullptr, connection_.get()).message;
}

// Asks the socket only after some silence, as frames themselves are the usual sign of life; before
// libpq empties it, so that a slow large row counts, too.
void CopyStream::check_silence() {
  // The clock is read once for many frames.
  if (std::exchange(heard_, false)) {
    heard_at_ = clock_.now();
    return;
  }
  const auto silence = clock_.now() - heard_at_;
  if (silence < read_timeout_ / 4) return;
  if (ready_now(PQsocket(connection_.get()), POLLIN) != 0) {
    heard_at_ = clock_.now();
  } else if (silence >= read_timeout_) {
    throw lost("nothing was heard for " + std::to_string(read_timeout_.count()) + " ms");
  }
}

std::optional<std::string_view> CopyStream::next() {
  bool taken = take_frame();
  for (int round = 0; encrypted_ && !taken && !eof_ && round < encrypted_read_rounds; ++round) {
    if (PQconsumeInput(connection_.get()) == 0) {
      eof_ = error_of(nullptr, connection_.get()).message;
    }
    taken = take_frame();
  }
  if (!taken && eof_) throw lost(*eof_);
  if (!taken) return std::nullopt;
  heard_ = true;
  return frame_view_;
}

bool CopyStream::take_frame() {
  char* bytes = nullptr;
  const int size = PQgetCopyData(connection_.get(), &bytes, 1);
  frame_.reset(bytes);
  // A notice comes before the frame just taken: what follows a lost change must not get out.
  throw_if_notified();
  emptied_ = size == 0;
  if (emptied_) reads_ahead_ = 0;
  if (size == 0) return false;
  if (size < 0) throw_end_of_stream();
  frame_view_ = {bytes, static_cast<std::size_t>(size)};
  return true;
}

void CopyStream::throw_if_notified() const {
  if (notices_->fatal) throw failure(Phase::streaming, *notices_->fatal, names_);
}

void CopyStream::throw_end_of_stream() {
  const Result result(PQgetResult(connection_.get()));
  throw_if_notified();
  switch (PQresultStatus(result.get())) {
    case PGRES_COPY_IN:
    case PGRES_COMMAND_OK:
      throw lost("the server ended the stream");
    default:
      throw failure(Phase::streaming, error_of(result.get(), connection_.get()), names_);
  }
}

void CopyStream::send_status(const pgoutput::StandbyStatus& status) {
  flush_output();
  if (output_pending_) {
    const bool reply_requested = newest_ && newest_->reply_requested;
    newest_ = status;
    newest_->reply_requested = status.reply_requested || reply_requested;
    return;
  }
  put(status);
  flush_output();
}

void CopyStream::flush_output() {
  const auto flush_once = [this] {
    const int left = PQflush(connection_.get());
    if (left < 0) throw lost(error_of(nullptr, connection_.get()).message);
    output_pending_ = left > 0;
  };
  flush_once();
  if (output_pending_ || !newest_) return;
  put(*newest_);
  newest_.reset();
  flush_once();
}

void CopyStream::put(const pgoutput::StandbyStatus& status) {
  const auto bytes = pgoutput::encode(status);
  if (PQputCopyData(connection_.get(), bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw lost(error_of(nullptr, connection_.get()).message);
  }
}

void CopyStream::end(Wait& wait) {
  constexpr std::string_view doing = "ending the stream";
  if (newest_) put(*newest_);
  newest_.reset();
  if (PQputCopyEnd(connection_.get(), nullptr) != 1) {
    throw lost(error_of(nullptr, connection_.get()).message);
  }
  flush(connection_.get(), wait, doing);
  int size = 0;
  while (size >= 0) {
    char* bytes = nullptr;
    size = PQgetCopyData(connection_.get(), &bytes, 1);
    const CopyBuffer unread(bytes);
    if (size != 0) continue;
    if (!await_input(connection_.get(), wait, doing)) {
      throw lost(error_of(nullptr, connection_.get()).message);
    }
  }
  while (true) {
    while (PQisBusy(connection_.get()) != 0) {
      if (!await_input(connection_.get(), wait, doing)) break;
    }
    const Result result(PQgetResult(connection_.get()));
    if (result == nullptr) return;
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
      throw failure(Phase::streaming, error_of(result.get(), connection_.get()), names_);
    }
  }
}

}  // namespace walpost::postgres
