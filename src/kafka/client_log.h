#pragma once

#include <string_view>

#include "broker_watch.h"
#include "librdkafka.h"
#include "walpost/relay/clock.h"

namespace walpost::kafka {

/// Writes librdkafka's log lines and connection errors to the log, readably.
class ClientLog {
 public:
  /// A log event.
  void line(rd_kafka_event_t* event, relay::Instant now);
  /// An error event that isn't fatal.
  void error(rd_kafka_event_t* event, relay::Instant now);
  /// A broker has answered something.
  void contact(relay::Instant now);

 private:
  void trouble(bool all_down, std::string_view reason, relay::Instant now);

  BrokerWatch watch_;
};

}  // namespace walpost::kafka
