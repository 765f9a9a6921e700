#include "chaos/writers.h"

#include <spdlog/fmt/fmt.h>

#include <random>
#include <utility>

#include "support/postgres_server.h"

namespace walpost::test {
namespace {

constexpr int keys = 50;

std::string transaction(std::mt19937_64& random) {
  std::string sql = "begin;";
  for (auto rows = 1 + random() % 3; rows > 0; --rows) {
    sql += fmt::format(
        "insert into outbox(aggregate_type, aggregate_id, event_type, payload) values "
        "('order', 'order-{0}', 'OrderPlaced', '{{\"key\": {0}}}');",
        random() % keys);
    // Held open for a moment, so that commits overtake each other.
    if (random() % 4 == 0) sql += "select pg_sleep(0.002);";
  }
  return sql + (random() % 10 == 0 ? "rollback" : "commit");
}

}  // namespace

Writers::Writers(std::string conninfo, int sessions, std::uint64_t seed)
    : conninfo_(std::move(conninfo)) {
  for (int i = 0; i < sessions; ++i)
    threads_.emplace_back([this, seed, i] { write(seed + static_cast<std::uint64_t>(i)); });
}

Writers::~Writers() {
  stop();
}

void Writers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_asked_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Writers::pause(std::chrono::microseconds span) {
  std::unique_lock lock(mutex_);
  stop_asked_.wait_for(lock, span, [this] { return stopping_.load(); });
}

void Writers::write(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!stopping_) {
    try {
      Session session(conninfo_);
      while (!stopping_) {
        session.exec(transaction(random));
        ++committed_;
        pause(std::chrono::microseconds(500 + random() % 3000));
      }
    } catch (const SqlError&) {
      // The server is away; what became of the transaction is the server's to say.
      pause(milliseconds(20));
    }
  }
}

}  // namespace walpost::test
