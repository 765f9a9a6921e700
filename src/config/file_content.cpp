#include "file_content.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <system_error>

namespace walpost::config {
namespace {

constexpr std::size_t size_limit = std::size_t{1} << 20;

struct Close {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

[[noreturn]] void fail(int error, const std::string& path) {
  throw std::system_error(error, std::generic_category(), path);
}

}  // namespace

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "re"));
  if (!file) {
    fail(errno, path);
  }
  std::string content(size_limit + 1, '\0');
  const std::size_t length = std::fread(content.data(), 1, content.size(), file.get());
  if (std::ferror(file.get()) != 0) {
    fail(errno, path);
  }
  if (length > size_limit) {
    fail(EFBIG, path);
  }
  content.resize(length);
  return content;
}

}  // namespace walpost::config
