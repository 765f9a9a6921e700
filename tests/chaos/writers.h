#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace walpost::test {

/// An application that goes on placing orders whatever happens to its database: concurrent sessions
/// whose transactions commit in another order than they began, some rolled back, each reconnecting
/// when its connection is lost.
class Writers {
 public:
  Writers(std::string conninfo, int sessions, std::uint64_t seed);
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Returns when every session has ended its transaction.
  void stop();
  /// Transactions whose commit was acknowledged to the application.
  [[nodiscard]] std::uint64_t committed() const { return committed_; }

 private:
  void write(std::uint64_t seed);
  /// Returns early when the end is asked for.
  void pause(std::chrono::microseconds span);

  std::string conninfo_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable stop_asked_;
  std::atomic<std::uint64_t> committed_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace walpost::test
