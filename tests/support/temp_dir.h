#pragma once

#include <filesystem>

namespace walpost::test {

/// A fresh folder below $TMPDIR or /tmp, removed with everything in it at the end; kept when
/// WALPOST_KEEP_TEMP is set, to look at the servers' logs. Its path is short enough for Unix
/// sockets, and everybody may enter it, since PostgreSQL runs as another user when the tests run as
/// root.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace walpost::test
