#include "simulation/model_server.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "unit/relay/stream_script.h"
#include "walpost/relay/failure.h"

namespace walpost::simulation {
namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

// How long an operator's `pg_ctl stop -m fast` may take because of us.
constexpr milliseconds patience{5000};

SessionFailure transient(const std::string& what) {
  return {FailureKind::transient, Side::postgres, what};
}

}  // namespace

relay::StreamStart ModelServer::open(Lsn confirmed) {
  if (!up_ || stopping_) throw transient("connection refused");
  if (world_.fault(world_.faults.connection_lost)) throw transient("timeout");
  if (world_.now < slot_free_)
    throw SessionFailure(FailureKind::slot_active, Side::postgres, "slot is active");
  memory_.confirmed = std::max(memory_.confirmed, confirmed);
  if (!memory_.confirmed.valid()) accept_move();  // nothing can tell it
  if (auto refused = refusal()) throw std::move(*refused);
  move_.reset();  // it went no further than what was published
  const Lsn start = std::max(memory_.confirmed, confirmed_);
  memory_.confirmed = start;
  connected_ = true;
  described_ = false;
  reply_wanted_ = false;
  socket_.clear();
  client_.clear();
  statuses_.clear();
  unsent_.clear();
  next_transaction_ = 0;
  while (next_transaction_ < world_.transactions.size() &&
         world_.transactions[next_transaction_].commit < start)
    ++next_transaction_;
  sent_ = start;
  received_by_client_ = start;
  last_flush_ = Lsn{};
  heard_ = world_.now;
  if (world_.tracing())
    world_.trace("stream opened, asked for " + confirmed.to_string() + ", starts at " +
                 start.to_string());
  return {.start = start, .sender_timeout = sender_timeout};
}

void ModelServer::receive(bool reading) {
  if (!connected_) throw transient("connection lost");
  if (!reading) return;
  while (!socket_.empty()) {
    client_.push_back(std::move(socket_.front()));
    socket_.pop_front();
  }
}

std::optional<std::string_view> ModelServer::next() {
  if (client_.empty()) return std::nullopt;
  current_ = std::move(client_.front());
  client_.pop_front();
  received_by_client_ = std::max(received_by_client_, current_.sent);
  return current_.bytes;
}

void ModelServer::send_status(const pgoutput::StandbyStatus& status) {
  world_.check_flush(status.flushed, last_flush_, received_by_client_);
  last_flush_ = status.flushed;
  if (world_.tracing()) world_.trace("status: flush " + status.flushed.to_string());
  memory_.confirmed = std::max(memory_.confirmed, status.flushed);
  if (!connected_) throw transient("connection lost");
  statuses_.push_back(status);
}

// The product's own rules, on the facts of this world.
std::optional<relay::SessionFailure> ModelServer::refusal() const {
  postgres::Catalogue catalogue;
  catalogue.server.wal_end = world_.wal_end;
  catalogue.server.database = "app";
  catalogue.slot.emplace();
  catalogue.slot->plugin = "pgoutput";
  catalogue.slot->database = "app";
  catalogue.slot->wal_status = "reserved";
  catalogue.slot->confirmed = confirmed_;
  postgres::Findings findings;
  postgres::check_slot(catalogue, memory_, postgres::Options{}, findings);
  return postgres::refusal(findings);
}

void ModelServer::new_process() {
  if (!world_.keeps_position) memory_ = {};
}

void ModelServer::take_status(const pgoutput::StandbyStatus& status) {
  heard_ = world_.now;
  confirmed_ = std::max(confirmed_, status.flushed);
  reply_wanted_ = reply_wanted_ || status.reply_requested;
}

std::optional<Lsn> ModelServer::finish(relay::milliseconds) {
  if (!connected_) throw transient("connection lost");
  for (const auto& status : statuses_) take_status(status);
  statuses_.clear();
  connected_ = false;
  return confirmed_;
}

void ModelServer::close() noexcept {
  if (connected_) disconnect("closed by the client");
}

void ModelServer::abandon() {
  if (connected_) disconnect("the client was killed");
}

// What the client sent last may have arrived or not.
void ModelServer::disconnect(const std::string& why) {
  if (!world_.fault(world_.faults.status_lost))
    for (const auto& status : statuses_) take_status(status);
  statuses_.clear();
  socket_.clear();
  client_.clear();
  connected_ = false;
  if (world_.fault(world_.faults.slot_still_active))
    slot_free_ = world_.now + milliseconds(1 + world_.below(3000));
  world_.trace("connection ended: " + why);
}

void ModelServer::crash() {
  ++world_.fault_count;
  if (connected_) disconnect("the server crashed");
  confirmed_ = persisted_;
  slot_free_ = {};
  up_ = false;
  stopping_ = false;
  up_again_ = world_.now + milliseconds(10 + world_.below(3000));
  world_.trace("server crashed, the slot is back at " + confirmed_.to_string());
}

void ModelServer::advance(Lsn to) {
  world_.trace("operator advances the slot to " + to.to_string());
  confirmed_ = std::max(confirmed_, to);
  memory_ = {};  // and deletes the position file, as the message says
  slot_free_ = {};
}

// Advanced by another tool, or dropped and made anew.
void ModelServer::move_slot() {
  if (move_ || confirmed_ >= world_.wal_end) return;
  ++world_.fault_count;
  move_ = {confirmed_,
           Lsn{confirmed_.value + 1 + world_.below(world_.wal_end.value - confirmed_.value)}};
  confirmed_ = move_->to;
  if (world_.chance(0.5)) persisted_ = confirmed_;
  world_.trace("somebody else moves the slot to " + confirmed_.to_string());
}

bool ModelServer::accept_move() {
  if (!move_) return false;
  for (const Transaction& transaction : world_.transactions) {
    if (transaction.commit < move_->from || transaction.commit >= move_->to) continue;
    for (RowNumber row = transaction.first_row; row < transaction.first_row + transaction.rows;
         ++row)
      if (world_.rows[row].appended == 0) world_.rows[row].skipped = true;
  }
  move_.reset();
  memory_ = {};
  return true;
}

void ModelServer::step() {
  if (!up_) {
    if (world_.now < up_again_) return;
    up_ = true;
  }
  if (!stopping_ && world_.chance(0.5)) world_.commit_something();
  if (world_.chance(0.05)) persisted_ = confirmed_;
  if (world_.fault(world_.faults.server_crash)) return crash();
  if (!stopping_ && world_.fault(world_.faults.server_shutdown)) {
    ++world_.fault_count;
    stopping_ = true;
    stop_began_ = world_.now;
    world_.trace("server is asked to stop");
  }
  if (connected_ && world_.fault(world_.faults.connection_lost)) {
    ++world_.fault_count;
    disconnect("lost");
  }
  if (connected_) serve_connection();
  if (!connected_ && up_ && world_.fault(world_.faults.slot_moved)) move_slot();
  if (stopping_ && !connected_) {
    stopping_ = false;
    up_ = false;
    persisted_ = confirmed_;
    up_again_ = world_.now + milliseconds(10 + world_.below(3000));
    world_.trace("server stopped");
  }
}

void ModelServer::serve_connection() {
  while (!statuses_.empty()) {
    take_status(statuses_.front());
    statuses_.pop_front();
  }
  if (world_.now - heard_ > sender_timeout) {
    world_.violate("nothing was heard for a whole wal_sender_timeout");
    return disconnect("wal_sender_timeout");
  }
  send_more();
  if (!stopping_) return;
  const bool all_sent = unsent_.empty() && next_transaction_ == world_.transactions.size();
  if (all_sent && confirmed_ >= world_.wal_end) return disconnect("the server is stopped");
  // WalSndDone: asks for a reply each time round, and waits.
  for (int i = 0; all_sent && i < 30 && socket_.size() < socket_capacity; ++i)
    socket_.push_back({stream::keepalive(world_.wal_end, true), world_.wal_end});
  if (world_.now - stop_began_ > patience) {
    world_.violate("the server had to wait for the client to stop");
    disconnect("given up");
  }
}

void ModelServer::send_more() {
  while (socket_.size() < socket_capacity && !world_.chance(0.1)) {
    if (world_.chance(0.1) || reply_wanted_) {
      // Everything before sent_ is in the socket; inside a transaction that is short of its commit.
      socket_.push_back({stream::keepalive(sent_, world_.chance(0.1)), sent_});
      reply_wanted_ = false;
    }
    if (unsent_.empty()) {
      if (next_transaction_ == world_.transactions.size()) {
        sent_ = std::max(sent_, world_.wal_end);
        return;
      }
      send_transaction(world_.transactions[next_transaction_]);
    }
    const bool commit = unsent_.size() == 1;
    const Transaction& transaction = world_.transactions[next_transaction_];
    socket_.push_back({std::move(unsent_.front()), commit ? transaction.end : Lsn{}});
    unsent_.pop_front();
    if (commit) {
      sent_ = std::max(sent_, transaction.end);
      ++next_transaction_;
    }
  }
}

void ModelServer::send_transaction(const Transaction& transaction) {
  unsent_.push_back(stream::begin(transaction.commit));
  if (transaction.rows > 0 && !described_) {
    unsent_.push_back(stream::outbox_relation());
    described_ = true;
  }
  for (RowNumber row = transaction.first_row; row < transaction.first_row + transaction.rows;
       ++row) {
    const std::string id = std::to_string(row);
    const std::string key = std::to_string(world_.rows[row].key);
    unsent_.push_back(
        stream::insert(id.c_str(), world_.rows[row].poison ? nullptr : key.c_str(), "{}"));
  }
  unsent_.push_back(stream::commit(transaction.commit, transaction.end));
}

}  // namespace walpost::simulation
