#pragma once

#include <string>

#include "bench/services.h"

namespace walpost::bench {

/// What the rows of an outbox look like. The default is an order of about 160 bytes, 400 with all
/// that PostgreSQL sends of its row.
struct Shape {
  long rows = 0;
  long per_transaction = 1;
  long payload_bytes = 0;  ///< 0: the order. Otherwise text that doesn't compress, in JSON
  long keys = 10000;
  int headers = 2;                     ///< members of the headers column
  int types = 1;                       ///< aggregate types
  std::string payload_type = "jsonb";  ///< of the column: jsonb, json, text or bytea
};

/// An outbox table, its publication and one slot that stays where the backlog begins. Each drain
/// has a copy of that slot, so all of them read the same.
class Backlog {
 public:
  /// Makes the table, the publication and the slot, by `walpost init`, and writes the rows.
  Backlog(Services& services, const Shape& shape);
  /// Drops all of it.
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  /// A slot at the backlog's beginning that nobody has used.
  std::string new_slot();
  /// Waits until nobody is connected to it any more. Its WAL need not be kept.
  void drop_slot(const std::string& slot);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Where the backlog ends, as text.
  [[nodiscard]] const std::string& end() const { return end_; }
  /// Waits until somebody has begun to read a slot; false at the deadline.
  [[nodiscard]] bool in_use(const std::string& slot, test::Deadline deadline);
  /// Whether a slot has confirmed all of it; waits for that for up to `seconds` inside the server.
  [[nodiscard]] bool confirmed(const std::string& slot, int seconds);

  static constexpr const char* publication = "walpost_bench";

 private:
  void write();

  Services& services_;
  Shape shape_;
  std::string end_;
};

/// The INSERT of a row numbered `k`, for the generator's loop.
[[nodiscard]] std::string insert_sql(const Shape& shape);

}  // namespace walpost::bench
