#include "slot_probe.h"

#include <spdlog/spdlog.h>

#include "query.h"

namespace walpost::postgres {

namespace {

constexpr std::chrono::seconds usual_interval{10};
// While the stream isn't read its keepalives can't announce a shutdown, and the server must not be
// made to wait for us.
constexpr std::chrono::seconds paused_interval{1};
constexpr std::chrono::seconds probe_timeout{5};
constexpr std::chrono::minutes warning_interval{1};

}  // namespace

void SlotProbe::start(Conninfo server) {
  stop();
  server_ = std::move(server);
  server_->set("fallback_application_name", "walpost probe");
  begun_at_ = clock_.now();
}

void SlotProbe::stop() noexcept {
  leave();
  server_.reset();
  server_stopping_ = false;
}

void SlotProbe::leave() noexcept {
  attempt_.reset();
  session_.reset();
}

void SlotProbe::watch(std::vector<pollfd>& fds) const {
  if (attempt_) {
    fds.push_back({attempt_->socket(), attempt_->events(), 0});
  } else if (session_) {
    fds.push_back({PQsocket(session_.get()), POLLIN, 0});
  }
}

void SlotProbe::advance(bool reading) {
  if (!server_) return;
  const auto since = clock_.now() - begun_at_;
  const bool idle = !attempt_ && !session_;
  if (idle && since >= (reading ? usual_interval : paused_interval)) {
    begun_at_ = clock_.now();
    attempt_.emplace(*server_);
  } else if (!idle && since >= probe_timeout) {
    give_up("no answer in time");
  }
  if (attempt_) connect();
  if (session_) read_answer();
}

void SlotProbe::connect() {
  switch (attempt_->advance()) {
    case ConnectAttempt::Progress::working:
      return;
    case ConnectAttempt::Progress::connected:
      ask(attempt_->release());
      return;
    case ConnectAttempt::Progress::failed:
      break;
  }
  const ServerError error = attempt_->error();
  // The stream's walsender lives, so the server neither starts nor recovers: it stops.
  if (error.sqlstate == "57P03") server_stopping_ = true;
  give_up(error.message);
}

void SlotProbe::ask(Handle session) {
  attempt_.reset();
  session_ = std::move(session);
  // A statement this short is taken by the socket of a new connection whole.
  if (PQsendQuery(session_.get(), slot_health_query(slot_).c_str()) == 0 ||
      PQflush(session_.get()) != 0) {
    give_up("the question wasn't taken");
  }
}

void SlotProbe::read_answer() {
  if (PQconsumeInput(session_.get()) == 0) return give_up(PQerrorMessage(session_.get()));
  if (PQisBusy(session_.get()) != 0) return;
  take_answer(Result(PQgetResult(session_.get())));
  leave();
}

void SlotProbe::take_answer(Result result) {
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
    spdlog::debug("slot {}: the probe's question failed: {}", slot_,
                  error_of(result.get(), session_.get()).message);
    return;
  }
  const Rows rows(std::move(result));
  if (rows.empty()) return;
  const SlotHealth now = read_slot_health(rows, clock_.now());
  const auto warning = slot_health_warning(slot_, now, health_);
  health_ = now;
  if (!warning || (warned_at_ && now.at - *warned_at_ < warning_interval)) return;
  warned_at_ = now.at;
  spdlog::warn("{}", *warning);
}

void SlotProbe::give_up(const std::string& why) {
  spdlog::debug("slot {}: probe failed: {}", slot_, why);
  leave();
}

}  // namespace walpost::postgres
