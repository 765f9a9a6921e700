#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "walpost/relay/stored_position.h"

namespace walpost::postgres {

using relay::StoredPosition;

/// A position that survives the process, in a file. Instances that take turns on one slot share it;
/// the slot's lease lets only one write at a time.
///
/// Two lines of text of fixed length, written in turn and each with a checksum, so that a write cut
/// off by a crash leaves the one before. One thread.
class PositionFile {
 public:
  explicit PositionFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Nothing: there is no such file yet. Throws SessionFailure: refused if it is damaged, belongs
  /// to another slot or to something else, or may not be read.
  [[nodiscard]] std::optional<StoredPosition> load(const std::string& slot);
  /// Durable when it returns. Throws SessionFailure, transient: the disk is full or fails, or
  /// another instance has written since load().
  void save(const StoredPosition& position);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::uint64_t sequence_ = 0;  ///< of the newest line read or written; zero: none
};

}  // namespace walpost::postgres
