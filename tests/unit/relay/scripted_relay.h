#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "walpost/relay/relay.h"

namespace walpost::relay::scripted {

using pgoutput::Lsn;
using Keys = std::vector<std::string>;

/// Time stands still but in wait(), where the test's next step happens. After the last step a stop
/// is asked for, and after a hundred more waits a second one, so that no test can hang.
class ScriptedClock final : public Clock {
 public:
  std::deque<std::function<void()>> steps;
  int stops = 0;
  int spins = 0;  ///< waits for a time that had passed

  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>&, Instant until) override {
    if (until <= now_) ++spins;
    if (steps.empty()) {
      now_ = std::max(now_, until);
      stops = ++idle_waits_ > 100 ? 2 : std::max(stops, 1);
      return;
    }
    now_ += microseconds(100);
    const auto step = std::move(steps.front());
    steps.pop_front();
    step();
  }
  [[nodiscard]] int stop_requests() const override { return stops; }
  void advance(milliseconds by) { now_ += by; }

 private:
  Instant now_{std::chrono::seconds(1000)};
  int idle_waits_ = 0;
};

/// A server under the test's control: what it sends, what it was told.
class FakeSource final : public Source {
 public:
  explicit FakeSource(std::vector<std::string>& journal) : journal_(journal) {}
  std::deque<SessionFailure> refusals;  ///< what the next open() calls throw
  std::deque<std::string> frames;
  std::optional<SessionFailure> breaks;  ///< thrown by the next receive()
  std::vector<pgoutput::StandbyStatus> statuses;
  std::vector<Lsn> opened_at;
  Lsn slot{100};
  milliseconds sender_timeout{60000};
  bool stopping = false;
  bool deaf = false;  ///< no status reaches it: the connection is over
  int reads = 0;

  StreamStart open(Lsn confirmed) override {
    journal_.push_back("source open");
    opened_at.push_back(confirmed);
    if (!refusals.empty()) {
      const SessionFailure failure = refusals.front();
      refusals.pop_front();
      throw failure;
    }
    return {.start = std::max(confirmed, slot), .sender_timeout = sender_timeout};
  }
  void watch(std::vector<pollfd>&, bool) override {}
  void receive(bool reading) override {
    if (reading) ++reads;
    if (breaks) {
      const SessionFailure failure = *breaks;
      breaks.reset();
      frames.clear();
      throw failure;
    }
  }
  std::optional<std::string_view> next() override {
    if (frames.empty()) return std::nullopt;
    current_ = frames.front();
    frames.pop_front();
    return current_;
  }
  void send_status(const pgoutput::StandbyStatus& status) override {
    if (deaf) throw SessionFailure(FailureKind::transient, Side::postgres, "connection lost");
    statuses.push_back(status);
    slot = std::max(slot, status.flushed);
  }
  [[nodiscard]] bool server_stopping() const override { return stopping; }
  std::optional<Lsn> finish(milliseconds) override {
    journal_.push_back("source finish");
    return slot;
  }
  void close() noexcept override {
    journal_.push_back("source close");
    frames.clear();
  }

  void send(const std::vector<std::string>& more) {
    frames.insert(frames.end(), more.begin(), more.end());
  }
  [[nodiscard]] Lsn flushed() const { return statuses.empty() ? Lsn{} : statuses.back().flushed; }

 private:
  std::vector<std::string>& journal_;
  std::string current_;
};

/// A broker under the test's control: holds reports until told.
class FakeSink final : public Sink {
 public:
  explicit FakeSink(std::vector<std::string>& journal) : journal_(journal) {}
  struct Taken {
    std::string key;
    Token token;
  };
  std::vector<Taken> taken;  ///< everything ever accepted, in order
  std::deque<Token> unreported;
  std::vector<DeliveryFailure> failures;
  std::optional<SessionFailure> refuses;
  bool full = false;
  bool automatic = false;  ///< acknowledges at the next poll
  int offers = 0;
  std::set<std::string> refused_keys;
  std::string why_refused = "too large";
  Lsn noted{~std::uint64_t{0}};  ///< how far the sink's own note of the position is durable

  void open(const StreamStart&) override { journal_.push_back("sink open"); }
  Accepted publish(const outbox::Record& record, Token token) override {
    ++offers;
    if (refused_keys.contains(std::string(record.key)) && record.topic != "letters")
      return Accepted::refused;
    if (full) return Accepted::full;
    taken.push_back({std::string(record.key), token});
    unreported.push_back(token);
    return Accepted::yes;
  }
  [[nodiscard]] const std::string& refusal() const override { return why_refused; }
  void poll(Reports& reports) override {
    if (refuses) throw SessionFailure(*refuses);
    reports.failed = failures;
    for (const DeliveryFailure& failure : failures) {
      if (failure.token) std::erase(unreported, *failure.token);
    }
    failures.clear();
    const std::size_t count = automatic ? unreported.size() : acknowledge_;
    for (std::size_t i = 0; i < count && !unreported.empty(); ++i) {
      reports.delivered.push_back(unreported.front());
      unreported.pop_front();
    }
    acknowledge_ = 0;
  }
  [[nodiscard]] Lsn secure(Lsn acknowledged, Lsn sealed) override {
    EXPECT_GE(sealed, acknowledged);
    return std::min(acknowledged, noted);
  }
  [[nodiscard]] int wake_fd() const override { return -1; }
  [[nodiscard]] std::size_t in_flight() const override { return unreported.size(); }
  [[nodiscard]] std::size_t in_flight_bytes() const override { return 100 * unreported.size(); }
  void discard() noexcept override {
    journal_.push_back("sink discard");
    unreported.clear();
  }
  void acknowledge(std::size_t count) { acknowledge_ = count; }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const Taken& one : taken) all.push_back(one.key);
    return all;
  }

 private:
  std::vector<std::string>& journal_;
  std::size_t acknowledge_ = 0;
};

/// A relay in a world where everything happens in the order a test writes it.
class ScriptedRelay : public ::testing::Test {
 protected:
  void step(std::function<void()> what) { clock.steps.push_back(std::move(what)); }
  /// A turn in which nothing happens but that a confirmation's spacing passes.
  void later() {
    step([this] { clock.advance(milliseconds(30)); });
  }
  Outcome run() {
    Relay relay(source, sink, clock, mapper, router, options, letters);
    return relay.run();
  }

  std::vector<std::string> journal;
  ScriptedClock clock;
  FakeSource source{journal};
  FakeSink sink{journal};
  outbox::Mapper mapper{{}};
  outbox::Router router{{}};
  Options options;
  DeadLetterStore* letters = nullptr;
};

}  // namespace walpost::relay::scripted
