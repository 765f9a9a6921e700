#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "walpost/relay/clock.h"

namespace walpost::kafka {

/// Turns librdkafka's line per failed connection attempt into a log that can be read: one line when
/// trouble begins, at most one a minute while it lasts, one when it is over. Pure.
class BrokerWatch {
 public:
  static constexpr std::chrono::minutes reminder_interval{1};

  /// A connection error. The line to warn with, or nothing when it was said recently. A cluster
  /// that is wholly unreachable is news even right after the first broker's error.
  [[nodiscard]] std::optional<std::string> trouble(bool all_down, std::string_view reason,
                                                   relay::Instant now);
  /// Any answer from a broker. The line that ends an outage of the whole cluster, if there was one;
  /// a single broker's trouble is not ended by another one's answer.
  [[nodiscard]] std::optional<std::string> contact(relay::Instant now);

 private:
  struct Trouble {
    relay::Instant since;
    relay::Instant last_line;
    relay::Instant last_seen;
    relay::Instant reason_seen;
    std::string last_reason;
    bool all_down = false;
  };
  std::optional<Trouble> trouble_;
};

}  // namespace walpost::kafka
