#pragma once

#include <chrono>
#include <optional>

namespace walpost::kafka {

/// One descriptor that is readable when librdkafka's event queue, the sink itself or a timer wants
/// poll() to be called: an epoll set of an eventfd and a timerfd. Lives as long as the sink, so the
/// descriptor that the loop waits for stays the same when a producer is replaced.
class Wakeup {
 public:
  /// Throws relay::SessionFailure(transient) when the process is out of descriptors.
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  [[nodiscard]] int fd() const { return epoll_fd_; }
  /// Where librdkafka writes eight bytes; non-blocking.
  [[nodiscard]] int event_fd() const { return event_fd_; }

  /// Makes fd() readable until clear().
  void raise();
  /// Must come before the queue is polled: what arrives afterwards raises it again.
  void clear();
  /// Makes fd() readable after `delay`, replacing an earlier wish; nothing: never.
  void after(std::optional<std::chrono::nanoseconds> delay);

 private:
  int event_fd_;
  int timer_fd_;
  bool armed_ = false;
  int epoll_fd_;
};

}  // namespace walpost::kafka
