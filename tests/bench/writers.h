#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace walpost::bench {

/// CLOCK_MONOTONIC, which the whole machine shares.
[[nodiscard]] std::int64_t monotonic_ns();
/// What CLOCK_REALTIME is ahead of it at this moment.
[[nodiscard]] std::int64_t wall_clock_ahead_ns();

/// Sessions that together insert one event at each tick of a rate, each event a transaction of its
/// own, with the time of its sending as the first member of its payload. A session that an INSERT
/// holds up sends the next ones as soon as it can.
class Writers {
 public:
  struct Options {
    std::string conninfo;
    int per_second = 0;
    double seconds = 0;  ///< counted from the end of the warm-up
    double warm_up_seconds = 1;
  };

  /// Connects, and starts to write. Throws if it can't connect.
  explicit Writers(const Options& options);
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Events sent from here on count; until then caches, connections and metadata warm up.
  [[nodiscard]] std::int64_t measured_from_ns() const { return measured_from_ns_; }
  [[nodiscard]] std::int64_t measured_to_ns() const { return end_ns_; }
  /// Whether all have ended. Throws what one of them failed with.
  [[nodiscard]] bool done();
  /// Events inserted so far, those of the warm-up too.
  [[nodiscard]] std::size_t written() const { return written_; }
  /// INSERT sent -> commit returned, of each measured one. REQUIRES: done().
  [[nodiscard]] std::vector<double> commit_ms() const;

  /// When the event of this payload was sent.
  [[nodiscard]] static std::int64_t sent_ns(std::string_view payload);

 private:
  class Connection;
  void write(std::size_t index, Connection& connection);

  /// Of one session; its thread alone touches it until it has ended.
  struct Outcome {
    std::vector<double> commit_ms;
    std::string failure;  ///< empty: none
  };

  std::int64_t start_ns_;
  std::int64_t measured_from_ns_;
  std::int64_t end_ns_;
  std::int64_t tick_ns_;  ///< between two events of one session
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::size_t> written_{0};
  std::atomic<std::size_t> ended_{0};
  std::vector<Outcome> outcomes_;
  std::vector<std::thread> threads_;
};

}  // namespace walpost::bench
