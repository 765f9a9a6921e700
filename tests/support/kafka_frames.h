#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walpost::test {

/// Follows one direction of a connection of Kafka's protocol, where every request and every answer
/// is preceded by its size, across pieces of any length. A value of one thread.
class KafkaFrames {
 public:
  /// `head` bytes of each frame, behind its size, are kept. REQUIRES: no frame is shorter.
  explicit KafkaFrames(std::size_t head) : head_(head) {}

  /// The heads that became whole with this piece.
  std::vector<std::string> feed(std::string_view piece);

 private:
  std::size_t head_;
  std::string start_;     // size and head of the current frame, as far as they came
  std::size_t skip_ = 0;  // bytes of the current frame still to come after its head
};

/// A request's header begins with its kind, version and number; an answer's with the number.
inline constexpr std::size_t request_head = 8;
inline constexpr std::size_t answer_head = 4;
inline constexpr std::uint16_t produce_request = 0;

/// Of a head that request_head or answer_head bytes long.
[[nodiscard]] std::uint16_t request_kind(std::string_view head);
[[nodiscard]] std::uint32_t request_number(std::string_view head);
[[nodiscard]] std::uint32_t answered_number(std::string_view head);

}  // namespace walpost::test
