#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
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
  /// Where the published position is kept besides the slot; nothing: only there. With it a slot
  /// that was moved, made anew or restored is found out by the next process, too.
  std::optional<std::filesystem::path> position_file;
};

}  // namespace walpost::postgres
