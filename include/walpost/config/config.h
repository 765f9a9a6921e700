#pragma once

#include <string>

#include "walpost/kafka/options.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/options.h"
#include "walpost/relay/relay.h"

namespace walpost::config {

enum class Guarantee { at_least_once, exactly_once };

enum class LogFormat { text, json };

struct LogOptions {
  std::string level = "info";  ///< trace debug info warn error
  LogFormat format = LogFormat::text;
};

/// Everything a command needs, filled with defaults. Each room declares its own part.
struct Config {
  postgres::Options postgres;
  outbox::MappingOptions outbox;
  outbox::RouteOptions route;
  kafka::Options kafka;
  relay::Options relay;
  Guarantee guarantee = Guarantee::at_least_once;
  bool position_topic = false;  ///< `position: kafka`

  /// Whether positions are kept in Kafka: asked for, or because exactly once needs them there.
  [[nodiscard]] bool keeps_position_in_kafka() const {
    return position_topic || guarantee == Guarantee::exactly_once;
  }
  LogOptions log;
};

}  // namespace walpost::config
