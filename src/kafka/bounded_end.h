#pragma once

#include <chrono>
#include <future>

namespace walpost::kafka {

/// Runs `end` on a thread of its own and waits for it, at most for `limit`. Whether it has
/// returned: if not, it goes on for as long as the process lives, so it must own all that it uses.
/// Where no thread can be made, what `end` owns is destroyed here.
[[nodiscard]] bool ended_within(std::packaged_task<void()> end, std::chrono::milliseconds limit);

}  // namespace walpost::kafka
