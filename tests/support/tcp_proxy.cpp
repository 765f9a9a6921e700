#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "support/free_port.h"

namespace walpost::test {
namespace {

// How soon a command is noticed.
constexpr int turn_milliseconds = 5;
constexpr std::size_t piece_bytes = 65536;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::runtime_error("no socket for the proxy");
  return fd;
}

void make_prompt(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

}  // namespace

TcpProxy::TcpProxy(std::uint16_t target, Carries carries)
    : target_(target), port_(free_port()), carries_(carries), listener_(new_socket()) {
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port_);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error("the proxy can't listen");
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  ending_ = true;
  thread_.join();
  close_all();
  ::close(listener_);
}

void TcpProxy::run() {
  while (!ending_) {
    if (cut_.exchange(false)) close_all();
    if (stalled_) {
      ::poll(nullptr, 0, turn_milliseconds);
      continue;
    }
    move_bytes();
  }
}

void TcpProxy::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = new_socket();
  const sockaddr_in address = loopback(target_);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  make_prompt(client);
  make_prompt(server);
  links_.push_back(
      {{client, server, KafkaFrames(request_head)}, {server, client, KafkaFrames(answer_head)}});
}

void TcpProxy::move_bytes() {
  std::vector<pollfd> fds{{listener_, POLLIN, 0}};
  const auto now = Clock::now();
  const auto want = [&](const Pipe& mine, const Pipe& other) {
    const bool due = !other.pending.empty() && other.due <= now;
    return static_cast<short>((mine.pending.empty() ? POLLIN : 0) | (due ? POLLOUT : 0));
  };
  for (const Link& link : links_) {
    fds.push_back({link.up.from, want(link.up, link.down), 0});
    fds.push_back({link.down.from, want(link.down, link.up), 0});
  }
  ::poll(fds.data(), fds.size(), turn_milliseconds);
  std::size_t at = 1;
  for (Link& link : links_) {
    const bool client_ready = fds[at++].revents != 0;
    const bool server_ready = fds[at++].revents != 0;
    link.over = (client_ready && !read(link, link.up)) ||
                (server_ready && !read(link, link.down)) || !write(link.up) || !write(link.down);
  }
  links_.remove_if([](const Link& link) {
    if (!link.over) return false;
    ::close(link.up.from);
    ::close(link.down.from);
    return true;
  });
  if (fds[0].revents != 0) accept_one();
}

// One byte more than the budget: the cut comes in what follows it.
std::size_t TcpProxy::most_to_read(bool from_server) const {
  const std::int64_t left = budget_;
  if (!from_server || left < 0) return piece_bytes;
  return std::min(piece_bytes, static_cast<std::size_t>(left) + 1);
}

void TcpProxy::spend(std::size_t size) {
  if (budget_ < 0) return;
  budget_ -= static_cast<std::int64_t>(size);
  if (budget_ < 0) cut_ = true;
}

// False when the connection has come to its end.
bool TcpProxy::read(Link& link, Pipe& pipe) {
  if (!pipe.pending.empty()) return true;
  const bool from_server = &pipe == &link.down;
  std::array<char, piece_bytes> bytes{};
  const ssize_t size = ::recv(pipe.from, bytes.data(), most_to_read(from_server), 0);
  if (size < 0) return errno == EAGAIN;
  if (size == 0) return false;
  pipe.pending.assign(bytes.data(), static_cast<std::size_t>(size));
  pipe.due = Clock::now() + std::chrono::milliseconds(latency_);
  if (from_server) spend(pipe.pending.size());
  return carries_ != Carries::kafka || !is_answer_to_lose(link, from_server, pipe.pending);
}

bool TcpProxy::is_answer_to_lose(Link& link, bool from_server, std::string_view piece) {
  if (!from_server) {
    for (const std::string& head : link.up.frames.feed(piece)) {
      if (request_kind(head) != produce_request || !losing_.exchange(false)) continue;
      link.unanswered = request_number(head);
    }
    return false;
  }
  for (const std::string& head : link.down.frames.feed(piece)) {
    if (link.unanswered != answered_number(head)) continue;
    ++lost_;
    return true;
  }
  return false;
}

// False when the connection has come to its end.
bool TcpProxy::write(Pipe& pipe) const {
  if (pipe.pending.empty() || Clock::now() < pipe.due) return true;
  const ssize_t size = ::send(pipe.to, pipe.pending.data(), pipe.pending.size(), MSG_NOSIGNAL);
  if (size < 0) return errno == EAGAIN;
  pipe.pending.erase(0, static_cast<std::size_t>(size));
  return true;
}

void TcpProxy::close_all() {
  for (const Link& link : links_) {
    ::close(link.up.from);
    ::close(link.down.from);
  }
  links_.clear();
}

}  // namespace walpost::test
