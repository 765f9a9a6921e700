#include "topic_name.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace walpost::outbox {

namespace {

constexpr std::size_t longest_topic_name = 249;

constexpr std::array<bool, 256> legal_bytes = [] {
  std::array<bool, 256> legal{};
  for (unsigned char c = '0'; c <= '9'; ++c) legal[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) legal[c] = true;
  for (unsigned char c = 'a'; c <= 'z'; ++c) legal[c] = true;
  legal['.'] = legal['_'] = legal['-'] = true;
  return legal;
}();

}  // namespace

bool is_topic_name_part(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return legal_bytes[static_cast<unsigned char>(c)]; });
}

bool is_topic_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_topic_name && name != "." && name != ".." &&
         is_topic_name_part(name);
}

}  // namespace walpost::outbox
