#include "bounded_end.h"

#include <system_error>
#include <thread>
#include <utility>

namespace walpost::kafka {

bool ended_within(std::packaged_task<void()> end, std::chrono::milliseconds limit) {
  const std::future<void> ended = end.get_future();
  try {
    std::thread(std::move(end)).detach();
  } catch (const std::system_error&) {
    return true;
  }
  return ended.wait_for(limit) == std::future_status::ready;
}

}  // namespace walpost::kafka
