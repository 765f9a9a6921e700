#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "support/deadline.h"

namespace walpost::test {

/// Choices and moments drawn from a seed. One thread.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
  /// A moment chosen by chance has no event to wait for. Milliseconds.
  void let_pass(std::size_t least, std::size_t most) {
    const auto span = milliseconds(least + below(most - least + 1));
    static_cast<void>(eventually([] { return false; }, Deadline::in(span)));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace walpost::test
