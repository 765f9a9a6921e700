#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

namespace walpost::test {
namespace {

struct PortRange {
  int first;
  int last;
};

/// The larger of the two unprivileged sides of the kernel's own range.
PortRange ports_outside_ephemeral() {
  PortRange ephemeral{32768, 60999};
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> ephemeral.first >> ephemeral.last;
  const PortRange below{10000, ephemeral.first - 1};
  const PortRange above{ephemeral.last + 1, 65535};
  const PortRange& larger = below.last - below.first > above.last - above.first ? below : above;
  if (larger.last - larger.first < 100) return ephemeral;  // a machine that leaves no room
  return larger;
}

/// An abstract Unix socket is the lock: the kernel frees it with the process, however that ends.
bool reserve(int port) {
  const std::string name = "walpost-test-port-" + std::to_string(port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(&address.sun_path[1], sizeof(address.sun_path) - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (lock < 0) throw std::runtime_error("socket");
  if (bind(lock, reinterpret_cast<const sockaddr*>(&address), length) == 0) return true;
  close(lock);
  return false;
}

bool nobody_listens(int port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) throw std::runtime_error("socket");
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return bound;
}

}  // namespace

std::uint16_t free_port() {
  const PortRange range = ports_outside_ephemeral();
  std::random_device random;
  std::uniform_int_distribution<int> any(range.first, range.last);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int port = any(random);
    if (nobody_listens(port) && reserve(port)) return static_cast<std::uint16_t>(port);
  }
  throw std::runtime_error("no free TCP port found on 127.0.0.1");
}

}  // namespace walpost::test
