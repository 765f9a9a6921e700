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
/// when its connection is lost. Most rows go to the table outbox, some to outbox_doomed.
class Writers {
 public:
  Writers(std::string conninfo, int sessions, std::uint64_t seed);
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Returns when every session has ended its transaction.
  void stop();

  /// As long as it lives the application is away: no transaction is open and no session either.
  class Hold {
   public:
    explicit Hold(Writers& writers);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Writers& writers_;
  };

 private:
  void write(std::uint64_t seed);
  void write_in_a_session(std::uint64_t number);
  bool enter();
  void leave();
  /// Returns early when the end is asked for.
  void pause(std::chrono::microseconds span);

  std::string conninfo_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> held_ = false;
  int writing_ = 0;  ///< sessions; under the mutex
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace walpost::test
