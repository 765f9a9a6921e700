#pragma once

#include "librdkafka.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// What a record's delivery error means for it. Permanent is only what the record itself causes, so
/// that a poison policy never sets aside a record for a missing right or a misconfigured broker;
/// everything unknown is retryable, which stops the stream at the record and loses nothing.
[[nodiscard]] relay::DeliveryFailure::Kind failure_kind(rd_kafka_resp_err_t error);

/// Whether an error says that no broker could answer, as opposed to a broker's answer.
[[nodiscard]] bool is_unreachable(rd_kafka_resp_err_t error);

/// Whether a request may be repeated unchanged: a cluster in transition.
[[nodiscard]] bool is_passing(rd_kafka_resp_err_t error);

}  // namespace walpost::kafka
