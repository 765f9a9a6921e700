#pragma once

#include <deque>
#include <string>

#include "postgres/preflight.h"
#include "simulation/world.h"
#include "walpost/relay/source.h"

namespace walpost::simulation {

/// PostgreSQL's side of one logical slot as walpost sees it: whole transactions in commit order
/// from the requested position, keepalives anywhere, a confirmed position that a crash takes back
/// to the last checkpoint, wal_sender_timeout, a shutdown that waits for the client.
class ModelServer final : public relay::Source {
 public:
  explicit ModelServer(World& world) : world_(world) {}

  relay::StreamStart open(Lsn confirmed) override;
  void watch(std::vector<pollfd>&, bool) override {}
  void receive(bool reading) override;
  std::optional<std::string_view> next() override;
  void send_status(const pgoutput::StandbyStatus& status) override;
  /// As the product's probe sees it: a second after the stop began, new connections are rejected.
  [[nodiscard]] bool server_stopping() const override {
    return stopping_ && world_.now - stop_began_ > milliseconds(1000);
  }
  std::optional<Lsn> finish(relay::milliseconds timeout) override;
  void close() noexcept override;

  /// Lets the server act: commit, send, crash, checkpoint.
  void step();
  /// The client's process is gone without a word.
  void abandon();
  /// A new process of the client, which remembers only what is kept in a file, if it is.
  void new_process();

  [[nodiscard]] Lsn confirmed() const { return confirmed_; }
  /// pg_replication_slot_advance by the operator; the slot isn't in use.
  void advance(Lsn to);
  /// After a refusal, or where nobody can know: the operator publishes by other means what somebody
  /// else's move of the slot left out, and the client is to go on from the slot. False if nobody
  /// has moved it.
  bool accept_move();
  [[nodiscard]] bool was_moved() const { return move_.has_value(); }

 private:
  struct Frame {
    std::string bytes;
    Lsn sent;  ///< what the client has received once it read this
  };
  static constexpr std::size_t socket_capacity = 48;
  static constexpr milliseconds sender_timeout{2000};

  void send_more();
  void send_transaction(const Transaction& transaction);
  void take_status(const pgoutput::StandbyStatus& status);
  void serve_connection();
  void disconnect(const std::string& why);
  void crash();
  void move_slot();
  [[nodiscard]] std::optional<relay::SessionFailure> refusal() const;

  World& world_;
  bool up_ = true;
  bool stopping_ = false;
  Instant up_again_{};
  Instant stop_began_{};
  Instant slot_free_{};

  bool connected_ = false;
  bool described_ = false;  ///< the Relation was sent on this connection
  bool reply_wanted_ = false;
  std::size_t next_transaction_ = 0;
  std::deque<std::string> unsent_;  ///< of the transaction being sent
  Lsn sent_;                        ///< everything before it was handed to the socket
  std::deque<Frame> socket_;
  std::deque<Frame> client_;
  std::deque<pgoutput::StandbyStatus> statuses_;
  Frame current_;
  Instant heard_{};

  Lsn received_by_client_;
  Lsn last_flush_;
  Lsn confirmed_{0x1000};
  Lsn persisted_{0x1000};

  postgres::Memory memory_;  ///< the client's, as the product's source keeps it
  struct Move {
    Lsn from;
    Lsn to;
  };
  std::optional<Move> move_;
};

}  // namespace walpost::simulation
