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

TcpProxy::TcpProxy(std::uint16_t target)
    : target_(target), port_(free_port()), listener_(new_socket()) {
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
  links_.push_back({{client, server, {}}, {server, client, {}}});
}

void TcpProxy::move_bytes() {
  std::vector<pollfd> fds{{listener_, POLLIN, 0}};
  const auto want = [](const Pipe& mine, const Pipe& other) {
    return static_cast<short>((mine.pending.empty() ? POLLIN : 0) |
                              (other.pending.empty() ? 0 : POLLOUT));
  };
  for (const Link& link : links_) {
    fds.push_back({link.up.from, want(link.up, link.down), 0});
    fds.push_back({link.down.from, want(link.down, link.up), 0});
  }
  if (::poll(fds.data(), fds.size(), turn_milliseconds) <= 0) return;
  std::size_t at = 1;
  for (Link& link : links_) {
    const bool client_readable = fds[at++].revents != 0;
    const bool server_readable = fds[at++].revents != 0;
    link.over = !move(link.up, client_readable, false) || !move(link.down, server_readable, true);
  }
  links_.remove_if([](const Link& link) {
    if (!link.over) return false;
    ::close(link.up.from);
    ::close(link.down.from);
    return true;
  });
  if (fds[0].revents != 0) accept_one();
}

// False when the connection has come to its end.
bool TcpProxy::move(Pipe& pipe, bool readable, bool from_server) {
  if (readable && pipe.pending.empty()) {
    std::array<char, 65536> bytes{};
    std::size_t most = bytes.size();
    const std::int64_t left = budget_;
    if (from_server && left >= 0) most = std::min(most, static_cast<std::size_t>(left) + 1);
    const ssize_t size = ::recv(pipe.from, bytes.data(), most, 0);
    if (size == 0 || (size < 0 && errno != EAGAIN)) return false;
    if (size > 0) pipe.pending.assign(bytes.data(), static_cast<std::size_t>(size));
    if (from_server && left >= 0 && size > 0) {
      budget_ = left - size;
      if (budget_ < 0) cut_ = true;
    }
  }
  if (pipe.pending.empty()) return true;
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
