#pragma once

#include <cstdint>

namespace walpost::test {

/// A TCP port of 127.0.0.1 that nobody listens on, reserved among all tests of this machine until
/// this process ends: a server may stop and come back on it. It lies outside the range the kernel
/// takes for outgoing connections, or a client retrying against a stopped server could take the
/// port itself, or even connect to itself.
[[nodiscard]] std::uint16_t free_port();

}  // namespace walpost::test
