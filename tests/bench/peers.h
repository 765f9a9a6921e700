#pragma once

#include <filesystem>

#include "bench/tools.h"

namespace walpost::bench {

/// What tests/bench/peers/fetch has put into a folder, each with its own defaults. They reach
/// PostgreSQL over TCP only, and a server of ours.
///
/// In a Kafka Connect worker of its own, with the outbox event router.
[[nodiscard]] Tool debezium(const std::filesystem::path& folder);
/// Without any outbox mapping, which it doesn't have.
[[nodiscard]] Tool mq_bridge(const std::filesystem::path& folder);

}  // namespace walpost::bench
