#pragma once

#include <cstddef>
#include <optional>

#include "librdkafka.h"
#include "topic_directory.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// The topic that a reported message was produced to.
[[nodiscard]] Topic& topic_of(const rd_kafka_message_t& message);

[[nodiscard]] relay::Token token_of(const rd_kafka_message_t& message);

/// What memory_bytes() said when the message was published. Allocates nothing.
[[nodiscard]] std::size_t memory_bytes(const rd_kafka_message_t& message);

/// How much a failure says about its cause: of several, the first in this order is the one to act
/// on.
enum class Rank {
  record,       ///< the record itself was refused
  environment,  ///< the broker refused for another reason
  producer,     ///< the producer died
  collateral,   ///< given up because something else failed
};

[[nodiscard]] Rank rank_of(relay::DeliveryFailure::Kind kind);

struct RankedFailure {
  Rank rank = Rank::collateral;
  relay::DeliveryFailure failure;
};

/// A failed message as a report. `generation` is the number of the producer.
[[nodiscard]] RankedFailure failure_of(const rd_kafka_message_t& message, unsigned generation);

/// The fatal error that `client` has raised, if any, with its code.
struct FatalError {
  rd_kafka_resp_err_t code;
  std::string reason;
};
[[nodiscard]] std::optional<FatalError> fatal_error(rd_kafka_t* client);

}  // namespace walpost::kafka
