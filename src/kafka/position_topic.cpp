#include "walpost/kafka/position_topic.h"

#include <chrono>
#include <utility>

#include "position_reader.h"
#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;
using std::chrono::milliseconds;

constexpr std::chrono::seconds recall_timeout{10};
constexpr milliseconds slice{200};

}  // namespace

PositionTopic::PositionTopic(Options options, Patience patience, std::function<bool()> interrupted)
    : options_(std::move(options)), patience_(patience), interrupted_(std::move(interrupted)) {}

relay::RecalledPosition PositionTopic::recall(const relay::SystemIdentity& server,
                                              const std::string& slot) {
  const auto until = std::chrono::steady_clock::now() + recall_timeout;
  auto recalled = read(server, slot, until);
  while (!recalled.complete && patience_ == Patience::transactions &&
         std::chrono::steady_clock::now() + slice < until) {
    recalled = read(server, slot, until);
  }
  return recalled;
}

relay::RecalledPosition PositionTopic::read(const relay::SystemIdentity& server,
                                            const std::string& slot,
                                            std::chrono::steady_clock::time_point until) const {
  PositionReader reader(options_.properties, position_key(server.identifier, slot),
                        PositionReader::Extent::available);
  while (!reader.advance(slice)) {
    if (interrupted_())
      throw SessionFailure(FailureKind::interrupted, Side::kafka, "asked to stop");
    if (std::chrono::steady_clock::now() >= until)
      throw SessionFailure(
          FailureKind::transient, Side::kafka,
          "the position of slot " + slot + " can't be read: waiting for " + reader.waiting_for());
  }
  relay::RecalledPosition recalled{std::nullopt, reader.topic_missing() || reader.complete()};
  if (const auto& found = reader.found())
    recalled.position = {{server.identifier, found->timeline}, slot, found->confirmed};
  return recalled;
}

std::string PositionTopic::place() const {
  return "topic " + std::string(positions_topic);
}

// An empty record: a tombstone to compaction, no position to us.
std::string PositionTopic::forgetting(const relay::SystemIdentity& server,
                                      const std::string& slot) const {
  const auto brokers = options_.properties.find("bootstrap.servers");
  return "run echo '" + position_key(server.identifier, slot) + "|' | kcat -P -b " +
         (brokers == options_.properties.end() ? "HOST:PORT" : brokers->second) + " -t " +
         std::string(positions_topic) + " -K '|' -Z";
}

}  // namespace walpost::kafka
