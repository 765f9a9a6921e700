#include "support/kafka_frames.h"

#include <algorithm>

namespace walpost::test {
namespace {

constexpr std::size_t size_bytes = 4;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::vector<std::string> KafkaFrames::feed(std::string_view piece) {
  std::vector<std::string> heads;
  while (!piece.empty()) {
    const std::size_t skipped = std::min(skip_, piece.size());
    skip_ -= skipped;
    piece.remove_prefix(skipped);
    const std::size_t taken = std::min(size_bytes + head_ - start_.size(), piece.size());
    start_ += piece.substr(0, taken);
    piece.remove_prefix(taken);
    if (start_.size() < size_bytes + head_) continue;
    skip_ = big_endian(std::string_view(start_).substr(0, size_bytes)) - head_;
    heads.push_back(start_.substr(size_bytes));
    start_.clear();
  }
  return heads;
}

std::uint16_t request_kind(std::string_view head) {
  return static_cast<std::uint16_t>(big_endian(head.substr(0, 2)));
}
std::uint32_t request_number(std::string_view head) {
  return big_endian(head.substr(4, 4));
}
std::uint32_t answered_number(std::string_view head) {
  return big_endian(head.substr(0, 4));
}

}  // namespace walpost::test
