#pragma once

#include <memory>

#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// Exactly once: events go into Kafka transactions, many to each, together with the position up to
/// which the stream is published. An event counts as delivered once its transaction is committed,
/// and one that the position read back at the beginning covers isn't published again. A second
/// instance fences the first; consumers have to read committed records only.
///
/// Owns a thread for librdkafka's blocking calls. discard() may wait some seconds for one. `clock`
/// must outlive it. REQUIRES: options.position_slot is set. Throws relay::SessionFailure(refused)
/// for unusable properties.
[[nodiscard]] std::unique_ptr<relay::Sink> make_transactional_sink(Options options,
                                                                   relay::Clock& clock);

}  // namespace walpost::kafka
