#pragma once

#include <chrono>
#include <string>

#include "librdkafka.h"
#include "properties.h"

namespace walpost::kafka {

/// One librdkafka producer and its event queue. Delivery reports, errors, logs and admin results
/// all come as events on the thread that calls next_event(): librdkafka's threads run none of our
/// code.
class Producer {
 public:
  /// Doesn't wait for brokers. Writes to `event_fd` when the queue becomes non-empty. Throws
  /// relay::SessionFailure(refused) when librdkafka refuses the properties as a whole.
  Producer(const ProducerProperties& properties, int event_fd);
  /// Purges what wasn't sent. Every TopicHandle must be gone.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  [[nodiscard]] rd_kafka_t* client() const { return client_.get(); }
  [[nodiscard]] rd_kafka_queue_t* queue() const { return queue_.get(); }

  /// The next event, or nothing within `wait`. To be called until it returns nothing.
  [[nodiscard]] EventHandle next_event(std::chrono::milliseconds wait = {}) const;

  /// A handle of the topic; `owner` comes back with each delivery report (rd_kafka_topic_opaque).
  /// Throws relay::SessionFailure(refused) for a name that can't be a topic.
  [[nodiscard]] TopicHandle topic(const std::string& name, void* owner) const;

 private:
  ClientHandle client_;
  QueueHandle queue_;
};

}  // namespace walpost::kafka
