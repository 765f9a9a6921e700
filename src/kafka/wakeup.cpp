#include "wakeup.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

void close_open(int fd) {
  if (fd >= 0) close(fd);
}

bool watch(int epoll_fd, int fd) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = fd;
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &interest) == 0;
}

// A counter that can't be read is empty already, which is what was wanted.
void drain(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto size = read(fd, &count, sizeof count);
}

}  // namespace

Wakeup::Wakeup()
    : event_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      timer_fd_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (event_fd_ >= 0 && timer_fd_ >= 0 && epoll_fd_ >= 0 && watch(epoll_fd_, event_fd_) &&
      watch(epoll_fd_, timer_fd_)) {
    return;
  }
  const auto reason = std::generic_category().message(errno);
  close_open(event_fd_);
  close_open(timer_fd_);
  close_open(epoll_fd_);
  throw relay::SessionFailure(relay::FailureKind::transient, relay::Side::walpost,
                              "no descriptors for the Kafka producer: " + reason,
                              "raise the process's limit of open files (ulimit -n)");
}

Wakeup::~Wakeup() {
  close(epoll_fd_);
  close(timer_fd_);
  close(event_fd_);
}

void Wakeup::raise() {
  const std::uint64_t one = 1;
  // Fails only when the counter is at its maximum, and then it is raised.
  [[maybe_unused]] const auto size = write(event_fd_, &one, sizeof one);
}

void Wakeup::clear() {
  drain(event_fd_);
  if (armed_) drain(timer_fd_);
}

void Wakeup::after(std::optional<std::chrono::nanoseconds> delay) {
  if (!delay && !armed_) return;  // as in nearly every turn of the loop
  armed_ = delay.has_value();
  itimerspec when{};
  if (delay) {
    // Zero would disarm the timer.
    const auto wait = std::max(*delay, std::chrono::nanoseconds{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = (wait - seconds).count();
  }
  timerfd_settime(timer_fd_, 0, &when, nullptr);
}

}  // namespace walpost::kafka
