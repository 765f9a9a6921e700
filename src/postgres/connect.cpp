#include "connect.h"

#include <spdlog/spdlog.h>

namespace walpost::postgres {

namespace {

// Until a stream has its own: the default would print to standard error.
void log_notice(void* /*unused*/, const PGresult* notice) {
  const char* message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  spdlog::warn("postgresql: {}", message == nullptr ? "" : message);
}

const char* or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

ConnectAttempt::ConnectAttempt(const Conninfo& conninfo) : handle_(conninfo.start()) {
  if (PQstatus(handle_.get()) == CONNECTION_BAD) status_ = PGRES_POLLING_FAILED;
  // The verbose text is where parse_connect_error finds the SQLSTATE.
  PQsetErrorVerbosity(handle_.get(), PQERRORS_VERBOSE);
  PQsetNoticeReceiver(handle_.get(), log_notice, nullptr);
}

short ConnectAttempt::events() const {
  return status_ == PGRES_POLLING_READING ? POLLIN : POLLOUT;
}

ConnectAttempt::Progress ConnectAttempt::advance() {
  // libpq takes a call before the socket is ready for a success of what it waits for.
  while ((status_ == PGRES_POLLING_READING || status_ == PGRES_POLLING_WRITING) &&
         ready_now(socket(), events()) != 0) {
    status_ = PQconnectPoll(handle_.get());
  }
  switch (status_) {
    case PGRES_POLLING_OK:
      return Progress::connected;
    case PGRES_POLLING_FAILED:
      return Progress::failed;
    case PGRES_POLLING_READING:
    case PGRES_POLLING_WRITING:
    case PGRES_POLLING_ACTIVE:
      return Progress::working;
  }
  return Progress::failed;
}

ServerError ConnectAttempt::error() const {
  ServerError error = parse_connect_error(PQerrorMessage(handle_.get()));
  error.needs_password = PQconnectionNeedsPassword(handle_.get()) != 0;
  return error;
}

Handle ConnectAttempt::release() {
  PQsetErrorVerbosity(handle_.get(), PQERRORS_DEFAULT);
  PQsetnonblocking(handle_.get(), 1);
  return std::move(handle_);
}

Handle connect(const Conninfo& conninfo, Names& names, Wait& wait) {
  ConnectAttempt attempt(conninfo);
  names.role = or_empty(PQuser(attempt.connection()));
  names.database = or_empty(PQdb(attempt.connection()));
  while (true) {
    switch (attempt.advance()) {
      case ConnectAttempt::Progress::connected:
        return attempt.release();
      case ConnectAttempt::Progress::failed:
        throw failure(Phase::connecting, attempt.error(), names);
      case ConnectAttempt::Progress::working:
        wait.ready(attempt.socket(), attempt.events(), "connecting to PostgreSQL");
    }
  }
}

}  // namespace walpost::postgres
