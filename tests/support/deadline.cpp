#include "support/deadline.h"

#include <poll.h>

#include <algorithm>
#include <ctime>

namespace walpost::test {

milliseconds Deadline::left() const {
  const auto left = std::chrono::ceil<milliseconds>(end_ - std::chrono::steady_clock::now());
  return std::max(left, milliseconds::zero());
}

bool eventually(const std::function<bool()>& holds, Deadline deadline, milliseconds pace) {
  for (;;) {
    if (holds()) return true;
    const milliseconds wait = std::min(pace, deadline.left());
    if (wait == milliseconds::zero()) return false;
    const timespec span{wait.count() / 1000, (wait.count() % 1000) * 1'000'000};
    ppoll(nullptr, 0, &span, nullptr);
  }
}

}  // namespace walpost::test
