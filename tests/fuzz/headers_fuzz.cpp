#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "outbox/headers_object.h"
#include "unit/outbox/headers_oracle.h"

using walpost::outbox::Header;
using walpost::outbox::read_headers;
using walpost::outbox::testing::HeadersOracle;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void require_same(const std::vector<Header>& headers,
                  const std::vector<HeadersOracle::Member>& expected) {
  require(headers.size() == expected.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto& [name, value] = expected[i];
    require(headers[i].name == name);
    require(headers[i].value.has_value() == value.has_value());
    if (!value || *headers[i].value == *value) continue;
    require(HeadersOracle::canonical(*headers[i].value) == *value);
  }
}

}  // namespace

/// Our scanner must accept exactly what nlohmann's parser accepts and find the same members. Apart
/// are NUL, which that parser takes for the end of its input and PostgreSQL can't store, our limit
/// of depth, and numbers that a double can't hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);  // so that reading past the end is seen
  const std::string_view json(exact.data(), exact.size());
  static std::string scratch;
  std::vector<Header> headers;
  const auto error = read_headers(json, scratch, headers);
  if (json.find('\0') != std::string_view::npos) return 0;
  if (error && error->what == "nested too deeply") return 0;

  HeadersOracle oracle;
  const bool accepted = oracle.read(json);
  if (oracle.number_overflowed()) return 0;
  require(accepted == !error);
  if (accepted) require_same(headers, oracle.members());
  return 0;
}
