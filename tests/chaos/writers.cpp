#include "chaos/writers.h"

#include <spdlog/fmt/fmt.h>

#include <random>
#include <utility>

#include "support/postgres_server.h"

namespace walpost::test {
namespace {

constexpr std::uint64_t keys = 50;

std::string transaction(std::mt19937_64& random) {
  std::string sql = "begin;";
  for (auto rows = 1 + random() % 3; rows > 0; --rows) {
    const bool doomed = random() % 8 == 0;
    sql += fmt::format(
        "insert into {}(aggregate_type, aggregate_id, event_type, payload) values "
        "('order', 'order-{}', '{}', '{{\"number\": {}}}');",
        doomed ? "outbox_doomed" : "outbox", random() % keys, doomed ? "Doomed" : "OrderPlaced",
        random() % 1000000);
    // Held open for a moment, so that commits overtake each other.
    if (random() % 4 == 0) sql += "select pg_sleep(0.002);";
  }
  return sql + (random() % 10 == 0 ? "rollback" : "commit");
}

}  // namespace

Writers::Hold::Hold(Writers& writers) : writers_(writers) {
  std::unique_lock lock(writers_.mutex_);
  writers_.held_ = true;
  writers_.changed_.notify_all();
  writers_.changed_.wait(lock, [this] { return writers_.writing_ == 0; });
}

Writers::Hold::~Hold() {
  const std::lock_guard lock(writers_.mutex_);
  writers_.held_ = false;
  writers_.changed_.notify_all();
}

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
  changed_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Writers::pause(std::chrono::microseconds span) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, span, [this] { return stopping_ || held_; });
}

// False when the end was asked for.
bool Writers::enter() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !held_; });
  if (stopping_) return false;
  ++writing_;
  return true;
}

void Writers::leave() {
  const std::lock_guard lock(mutex_);
  --writing_;
  changed_.notify_all();
}

void Writers::write(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (enter()) {
    try {
      write_in_a_session(random());
    } catch (const SqlError&) {
      // The server is away; what became of the transaction is the server's to say.
    }
    leave();
    pause(milliseconds(20));
  }
}

void Writers::write_in_a_session(std::uint64_t number) {
  std::mt19937_64 random(number);
  Session session(conninfo_);
  while (!stopping_ && !held_) {
    session.exec(transaction(random));
    pause(std::chrono::microseconds(2000 + random() % 4000));
  }
}

}  // namespace walpost::test
