#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "simulation/world.h"
#include "slow_start.h"
#include "walpost/relay/sink.h"

namespace walpost::simulation {

/// librdkafka and its brokers as the Sink's contract lets them be seen: batches of several records,
/// several in flight, reports out of order among partitions, batches that are in the log although
/// reported failed, rejections for good, a producer that turns fatal, a full queue, brokers that
/// stall. A partition accepts any first sequence of a producer it doesn't know, which is the hole
/// in the gapless guarantee; walpost's own SlowStart stands in front of it as in the product.
class ModelBroker final : public relay::Sink {
 public:
  explicit ModelBroker(World& world);

  void open(const relay::StreamStart& start) override;
  relay::Accepted publish(const outbox::Record& record, relay::Token token) override;
  [[nodiscard]] const std::string& refusal() const override { return refusal_; }
  void poll(relay::Reports& reports) override;
  [[nodiscard]] Lsn secure(Lsn acknowledged, Lsn /*sealed*/) override { return acknowledged; }
  [[nodiscard]] int wake_fd() const override { return -1; }
  [[nodiscard]] std::size_t in_flight() const override { return in_flight_; }
  [[nodiscard]] std::size_t in_flight_bytes() const override { return 100 * in_flight_; }
  void discard() noexcept override;

  /// Lets librdkafka and the brokers act.
  void step();

 private:
  struct Item {
    RowNumber row;
    relay::Token token;
  };
  enum class Fate { sent, appended, rejected, out_of_sequence };
  struct Batch {
    std::vector<Item> items;
    Fate fate = Fate::sent;
  };
  struct Partition {
    std::deque<Item> queue;
    std::deque<Batch> batches;
    bool knows_producer = false;
    bool gap =
        false;  ///< a batch was rejected: later sequences don't fit, if the producer is known
  };
  using Failure = relay::DeliveryFailure;

  void release_held();
  void send_batch(Partition& partition);
  void serve_batch(Partition& partition);
  void report_batches(Partition& partition, std::size_t number);
  void report(const Item& item, std::optional<Failure::Kind> failure, std::size_t partition);
  void turn_fatal();
  [[nodiscard]] kafka::Lane lane(std::size_t partition) const {
    return kafka::lane_of(first_lane_, partition);
  }

  World& world_;
  std::vector<Partition> partitions_;
  std::optional<kafka::SlowStart> slow_start_;
  kafka::Lane first_lane_{};
  std::size_t max_batches_;
  std::size_t in_flight_ = 0;
  bool failed_ = false;
  Instant stalled_until_{};
  relay::Reports ready_;
  std::string refusal_;
};

}  // namespace walpost::simulation
