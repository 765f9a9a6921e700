#include "support/temp_dir.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace walpost::test {

TempDir::TempDir() {
  const char* base = std::getenv("TMPDIR");
  std::string name = std::string(base != nullptr ? base : "/tmp") + "/walpost-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
  path_ = name;
  if (chmod(name.c_str(), 0755) != 0)
    throw std::system_error(errno, std::generic_category(), "chmod " + name);
}

TempDir::~TempDir() {
  if (std::getenv("WALPOST_KEEP_TEMP") != nullptr) return;
  std::error_code ignored;  // a server that is just ending may still write; the rest is in /tmp
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace walpost::test
