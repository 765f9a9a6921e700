#include "bench/writers.h"

#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <ctime>
#include <stdexcept>

namespace walpost::bench {
namespace {

constexpr int per_second_of_a_session = 2500;
constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::string_view before_time = R"({"at": )";  // as jsonb prints its shortest key, first

std::int64_t ns_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * second_ns + time.tv_nsec;
}

void sleep_until(std::int64_t monotonic) {
  const timespec time{monotonic / second_ns, monotonic % second_ns};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

/// Record timestamps are cut to milliseconds. Ticks of whole milliseconds would all be cut by the
/// same part of one, and no mean would tell; so they are spread over one, by the golden ratio.
std::int64_t spread_ns(std::int64_t tick, std::int64_t tick_ns) {
  constexpr std::int64_t millisecond_ns = 1'000'000;
  constexpr std::int64_t golden_part = 618'034;
  return tick_ns < millisecond_ns ? 0 : tick * golden_part % millisecond_ns;
}

std::string payload(std::int64_t now, const std::string& key) {
  return std::string(before_time) + std::to_string(now) +
         R"(, "items": [{"sku": "sku-501", "quantity": 2, "unitPrice": 124950}], )"
         R"("total": 249900, "orderId": ")" +
         key + R"(", "currency": "INR"})";
}

}  // namespace

std::int64_t monotonic_ns() {
  return ns_of(CLOCK_MONOTONIC);
}

std::int64_t wall_clock_ahead_ns() {
  return ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);
}

class Writers::Connection {
 public:
  explicit Connection(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    check(PQprepare(connection_.get(), "place",
                    "insert into outbox(aggregate_type, aggregate_id, event_type, payload, "
                    "headers) values ('order', $1, 'OrderPlaced', $2, "
                    "'{\"traceId\":\"trace-9a2d5f\",\"tenant\":\"tenant-17\"}')",
                    2, nullptr));
  }

  void place(const std::string& key, const std::string& payload) {
    const std::array<const char*, 2> values{key.c_str(), payload.c_str()};
    check(PQexecPrepared(connection_.get(), "place", 2, values.data(), nullptr, nullptr, 0));
  }

 private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  void check(PGresult* result) {
    const bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!good) throw std::runtime_error(PQerrorMessage(connection_.get()));
  }

  std::unique_ptr<PGconn, Close> connection_;
};

Writers::Writers(const Options& options) {
  const int sessions = (options.per_second + per_second_of_a_session - 1) / per_second_of_a_session;
  for (int i = 0; i < sessions; ++i)
    connections_.push_back(std::make_unique<Connection>(options.conninfo));
  outcomes_.resize(connections_.size());
  const auto in_ns = [](double seconds) {
    return static_cast<std::int64_t>(seconds * static_cast<double>(second_ns));
  };
  tick_ns_ = second_ns * sessions / options.per_second;
  start_ns_ = monotonic_ns();
  measured_from_ns_ = start_ns_ + in_ns(options.warm_up_seconds);
  end_ns_ = measured_from_ns_ + in_ns(options.seconds);
  for (std::size_t i = 0; i < connections_.size(); ++i)
    threads_.emplace_back([this, i] {
      try {
        write(i, *connections_[i]);
      } catch (const std::exception& error) {
        outcomes_[i].failure = error.what();
      }
      ++ended_;
    });
}

Writers::~Writers() {
  for (std::thread& thread : threads_) thread.join();
}

void Writers::write(std::size_t index, Connection& connection) {
  const auto sessions = static_cast<std::int64_t>(connections_.size());
  const std::int64_t first = start_ns_ + tick_ns_ * static_cast<std::int64_t>(index) / sessions;
  for (std::int64_t tick = 0;; ++tick) {
    const std::int64_t due = first + tick * tick_ns_ + spread_ns(tick, tick_ns_);
    if (due >= end_ns_ || monotonic_ns() >= end_ns_) return;
    sleep_until(due);
    const std::string key =
        "order-" + std::to_string((tick * sessions + static_cast<std::int64_t>(index)) % 10000);
    const std::int64_t sent = monotonic_ns();
    connection.place(key, payload(sent, key));
    ++written_;
    if (sent >= measured_from_ns_)
      outcomes_[index].commit_ms.push_back(static_cast<double>(monotonic_ns() - sent) / 1e6);
  }
}

bool Writers::done() {
  if (ended_ < threads_.size()) return false;
  for (const Outcome& outcome : outcomes_)
    if (!outcome.failure.empty()) throw std::runtime_error("a writer failed: " + outcome.failure);
  return true;
}

std::vector<double> Writers::commit_ms() const {
  std::vector<double> all;
  for (const Outcome& outcome : outcomes_)
    all.insert(all.end(), outcome.commit_ms.begin(), outcome.commit_ms.end());
  return all;
}

std::int64_t Writers::sent_ns(std::string_view payload) {
  std::int64_t sent = 0;
  if (!payload.starts_with(before_time)) throw std::runtime_error("a foreign record");
  payload.remove_prefix(before_time.size());
  std::from_chars(payload.data(), payload.data() + payload.size(), sent);
  return sent;
}

}  // namespace walpost::bench
