#pragma once

#include <filesystem>

#include "bench/tools.h"

namespace walpost::bench {

/// What a peer is measured with.
enum class Settings {
  defaults,
  tuned,  ///< for the rate of a drain
};

// The peers that tests/bench/peers/fetch has put into a folder. They reach PostgreSQL over TCP
// only, and a server of ours.

/// In a Kafka Connect worker of its own, with the outbox event router.
[[nodiscard]] Tool debezium(const std::filesystem::path& folder, Settings settings);
/// Without any outbox mapping, which it doesn't have. Tuned: with batches of 1,000.
[[nodiscard]] Tool mq_bridge(const std::filesystem::path& folder, Settings settings);

}  // namespace walpost::bench
