#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "wakeup.h"

namespace walpost::kafka {

/// A thread for calls of librdkafka that block (the transaction calls, a reading), one at a time,
/// and nothing else. Every member is for the owner's thread. What a call uses belongs to it from
/// start() until finished() has said true.
class CallThread {
 public:
  /// Raises `wakeup` when a call has returned; it must outlive this.
  explicit CallThread(Wakeup& wakeup);
  /// Waits for the call that runs.
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  /// REQUIRES: not busy().
  void start(std::function<void()> call);
  /// From start() until finished() has said true.
  [[nodiscard]] bool busy() const { return busy_; }
  /// True once for each call, when it has returned; throws what it threw.
  bool finished();

 private:
  void run();

  Wakeup& wakeup_;
  bool busy_ = false;
  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::function<void()> call_;  // to be run, or running
  bool returned_ = false;
  bool ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace walpost::kafka
