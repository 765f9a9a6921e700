#include "broker_watch.h"

namespace walpost::kafka {
namespace {

// An error that came this shortly before "all brokers are down" is what brought the last one down.
constexpr std::chrono::seconds same_cause{2};

}  // namespace

std::optional<std::string> BrokerWatch::trouble(bool all_down, std::string_view reason,
                                                relay::Instant now) {
  const bool first = !trouble_ || now - trouble_->last_seen > 2 * reminder_interval;
  if (first) trouble_ = Trouble{now, now, now, now, {}, false};
  trouble_->last_seen = now;
  const bool worse = all_down && !trouble_->all_down;
  // "All brokers are down" says less than the error that led there.
  if (!all_down || now - trouble_->reason_seen > same_cause) {
    trouble_->last_reason = reason;
    trouble_->reason_seen = now;
  }
  trouble_->all_down = trouble_->all_down || all_down;
  if (!first && !worse && now - trouble_->last_line < reminder_interval) return std::nullopt;

  trouble_->last_line = now;
  std::string line = trouble_->all_down ? "kafka brokers unreachable" : "kafka broker trouble";
  if (!first && !worse) {
    const auto lasting = std::chrono::duration_cast<std::chrono::seconds>(now - trouble_->since);
    line += " for " + std::to_string(lasting.count()) + " s";
  }
  const auto& known = trouble_->last_reason;
  return line.append(": ").append(known.empty() ? reason : known);
}

std::optional<std::string> BrokerWatch::contact(relay::Instant now) {
  if (!trouble_ || !trouble_->all_down) return std::nullopt;
  const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - trouble_->since);
  trouble_.reset();
  return "kafka brokers reachable again after " + std::to_string(lasted.count()) + " s";
}

}  // namespace walpost::kafka
