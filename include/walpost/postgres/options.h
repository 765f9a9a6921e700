#pragma once

#include <chrono>
#include <string>

namespace walpost::postgres {

struct Options {
  std::string url = "postgresql:///";  ///< any libpq conninfo; may hold a password: never log it
  std::string slot = "walpost";
  std::string publication = "walpost";
  std::chrono::milliseconds connect_timeout{10000};  ///< of one attempt
  /// Silence of the server after which the connection is given up; the relay asks for a sign of
  /// life often enough that a healthy server never reaches it.
  std::chrono::milliseconds read_timeout{120000};
};

}  // namespace walpost::postgres
