#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "support/kafka_frames.h"

namespace walpost::test {

/// A network between a client and a server on 127.0.0.1 that a test can break. Passes everything on
/// until told otherwise. Its own thread moves the bytes; every member may be called from any.
class TcpProxy {
 public:
  enum class Carries { anything, kafka };

  /// Listens on a free port at once.
  explicit TcpProxy(std::uint16_t target, Carries carries = Carries::anything);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Both ends of every connection see it closed. New ones work.
  void cut() { cut_ = true; }
  /// The same, once so many more bytes have come from the server: in the middle of a message.
  void cut_after(std::size_t bytes) { budget_ = static_cast<std::int64_t>(bytes); }
  /// Half-open: connections stay, nothing moves and nobody is told, until resume().
  void stall() { stalled_ = true; }
  void resume() { stalled_ = false; }
  /// What comes is passed on only so long afterwards, in both directions; 0: at once.
  void delay(std::chrono::milliseconds latency) { latency_ = latency.count(); }
  /// With true: the next produce request passes, and in place of its answer the connection is cut:
  /// the broker has appended the records and the client can't know. REQUIRES: Carries::kafka.
  void lose_acknowledgement(bool next) { losing_ = next; }
  [[nodiscard]] std::size_t acknowledgements_lost() const { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Pipe {
    int from;
    int to;
    KafkaFrames frames;
    std::string pending = {};    // read, not yet written
    Clock::time_point due = {};  // when it may be written
  };
  struct Link {
    Pipe up;                                       // client to server
    Pipe down;                                     // server to client
    std::optional<std::uint32_t> unanswered = {};  // the produce request whose answer is to be lost
    bool over = false;
  };
  void run();
  void accept_one();
  void move_bytes();
  bool read(Link& link, Pipe& pipe);
  [[nodiscard]] bool write(Pipe& pipe) const;
  std::size_t most_to_read(bool from_server) const;
  void spend(std::size_t size);
  bool is_answer_to_lose(Link& link, bool from_server, std::string_view piece);
  void close_all();

  std::uint16_t target_;
  std::uint16_t port_;
  Carries carries_;
  int listener_;
  std::list<Link> links_;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> losing_ = false;
  std::atomic<bool> ending_ = false;
  std::atomic<std::size_t> lost_ = 0;
  std::atomic<std::int64_t> latency_ = 0;  // milliseconds
  std::atomic<std::int64_t> budget_ =
      -1;  // bytes from the server until the cut; negative: none set
  std::thread thread_;
};

}  // namespace walpost::test
