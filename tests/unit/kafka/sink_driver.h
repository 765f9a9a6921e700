#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/deadline.h"
#include "walpost/kafka/producer_sink.h"
#include "walpost/outbox/record.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/failure.h"
#include "walpost/relay/sink.h"

namespace walpost::test {

class SteadyClock final : public relay::Clock {
 public:
  [[nodiscard]] relay::Instant now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>& fds, relay::Instant until) override {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now());
    poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(0, left.count())));
  }
  [[nodiscard]] int stop_requests() const override { return 0; }
};

inline kafka::Options options_for(const std::string& bootstrap,
                                  std::map<std::string, std::string> properties = {}) {
  kafka::Options options;
  options.properties = std::move(properties);
  options.properties["bootstrap.servers"] = bootstrap;
  return options;
}

/// Drives a sink as the relay's loop does: polls when the sink's descriptor says so and not
/// otherwise, so that a lost wake-up shows as a missed deadline.
class SinkDriver {
 public:
  explicit SinkDriver(kafka::Options options) : sink_(std::move(options), clock_) {
    sink_.open({});
  }

  [[nodiscard]] kafka::ProducerSink& sink() { return sink_; }
  [[nodiscard]] const std::vector<relay::Token>& delivered() const { return reports_.delivered; }
  [[nodiscard]] const std::vector<relay::DeliveryFailure>& failed() const {
    return reports_.failed;
  }
  /// Of all calls of poll() so far.
  [[nodiscard]] std::chrono::nanoseconds longest_poll() const { return longest_poll_; }

  /// The token of the n-th record published through publish().
  static relay::Token token(std::uint32_t number) { return {7, number, 3}; }

  /// Publishes a record whose messageId is "e<number>"; false if it wasn't accepted in time.
  bool publish(const std::string& topic, const std::string& key,
               std::optional<std::string_view> value, Deadline deadline) {
    const std::string id = "e" + std::to_string(next_);
    const std::vector<outbox::Header> headers{{"messageId", id}};
    return offer({topic, key, value, headers}, deadline);
  }

  bool offer(const outbox::Record& record, Deadline deadline) {
    while (sink_.publish(record, token(next_)) == relay::Accepted::full) {
      if (!poll_once(deadline)) return false;
    }
    ++next_;
    return true;
  }

  /// Waits for the descriptor, then polls. False when the deadline has passed.
  bool poll_once(Deadline deadline) {
    std::vector<pollfd> fds{{sink_.wake_fd(), POLLIN, 0}};
    clock_.wait(fds, clock_.now() + deadline.left());
    if (fds[0].revents == 0) return false;
    const auto start = clock_.now();
    sink_.poll(reports_);
    longest_poll_ = std::max(longest_poll_, clock_.now() - start);
    return true;
  }

  bool wait_delivered(std::size_t count, Deadline deadline) {
    while (reports_.delivered.size() < count) {
      if (!poll_once(deadline)) return false;
    }
    return true;
  }

  bool wait_failed(Deadline deadline) {
    while (reports_.failed.empty()) {
      if (!poll_once(deadline)) return false;
    }
    return true;
  }

  /// Polls until the sink refuses; the refusal, if it came in time.
  std::optional<relay::SessionFailure> wait_refused(Deadline deadline) {
    try {
      while (poll_once(deadline)) continue;
    } catch (const relay::SessionFailure& failure) {
      return failure;
    }
    return std::nullopt;
  }

  void restart() {
    sink_.discard();
    reports_.clear();
    sink_.open({});
  }

 private:
  SteadyClock clock_;
  kafka::ProducerSink sink_;
  relay::Reports reports_;
  std::uint32_t next_ = 0;
  std::chrono::nanoseconds longest_poll_{0};
};

}  // namespace walpost::test
