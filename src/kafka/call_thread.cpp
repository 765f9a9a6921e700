#include "call_thread.h"

#include <stdexcept>
#include <utility>

namespace walpost::kafka {

CallThread::CallThread(Wakeup& wakeup) : wakeup_(wakeup), thread_([this] { run(); }) {}

CallThread::~CallThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CallThread::start(std::function<void()> call) {
  if (busy_) throw std::logic_error("a call is started while another runs");
  busy_ = true;
  {
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
    returned_ = false;
    error_ = nullptr;
  }
  changed_.notify_one();
}

bool CallThread::finished() {
  if (!busy_) return false;
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    if (!returned_) return false;
    error = std::exchange(error_, nullptr);
  }
  busy_ = false;
  if (error) std::rethrow_exception(error);
  return true;
}

void CallThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || call_; });
    if (!call_) return;
    const std::function<void()> call = std::exchange(call_, nullptr);
    lock.unlock();
    std::exception_ptr error;
    try {
      call();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    returned_ = true;
    wakeup_.raise();
  }
}

}  // namespace walpost::kafka
