#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

namespace walpost::test {

/// A network between a client and a server on 127.0.0.1 that a test can break. Passes everything on
/// until told otherwise. Its own thread moves the bytes; every member may be called from any.
class TcpProxy {
 public:
  /// Listens on a free port at once.
  explicit TcpProxy(std::uint16_t target);
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

 private:
  struct Pipe {
    int from;
    int to;
    std::string pending;  // read, not yet written
  };
  struct Link {
    Pipe up;    // client to server
    Pipe down;  // server to client
    bool over = false;
  };
  void run();
  void accept_one();
  void move_bytes();
  bool move(Pipe& pipe, bool readable, bool from_server);
  void close_all();

  std::uint16_t target_;
  std::uint16_t port_;
  int listener_;
  std::list<Link> links_;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> ending_ = false;
  std::atomic<std::int64_t> budget_ =
      -1;  // bytes from the server until the cut; negative: none set
  std::thread thread_;
};

}  // namespace walpost::test
