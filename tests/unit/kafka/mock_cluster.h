#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace walpost::test {

/// librdkafka's in-process Kafka, on loopback sockets.
class MockCluster {
 public:
  explicit MockCluster(int brokers) : brokers_(brokers) {
    std::array<char, 256> error{};
    auto* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "0", error.data(), error.size());
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error.data(), error.size()));
    if (!client_) throw std::runtime_error(error.data());
    cluster_.reset(rd_kafka_mock_cluster_new(client_.get(), brokers));
    if (!cluster_) throw std::runtime_error("no mock cluster");
  }

  [[nodiscard]] std::string bootstrap() const {
    return rd_kafka_mock_cluster_bootstraps(cluster_.get());
  }
  void create_topic(const std::string& name, int partitions) {
    rd_kafka_mock_topic_create(cluster_.get(), name.c_str(), partitions, brokers_);
  }
  void set_topic_error(const std::string& name, rd_kafka_resp_err_t error) {
    rd_kafka_mock_topic_set_error(cluster_.get(), name.c_str(), error);
  }
  /// The next Produce requests fail with these, one each; none of their records is stored.
  void fail_produce(const std::vector<rd_kafka_resp_err_t>& errors) {
    constexpr std::int16_t produce = 0;
    rd_kafka_mock_push_request_errors_array(cluster_.get(), produce, errors.size(), errors.data());
  }
  void set_down(bool down) {
    for (int id = 1; id <= brokers_; ++id) {
      if (down) {
        rd_kafka_mock_broker_set_down(cluster_.get(), id);
      } else {
        rd_kafka_mock_broker_set_up(cluster_.get(), id);
      }
    }
  }

 private:
  struct Destroy {
    void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
    void operator()(rd_kafka_mock_cluster_t* cluster) const {
      rd_kafka_mock_cluster_destroy(cluster);
    }
  };
  int brokers_;
  std::unique_ptr<rd_kafka_t, Destroy> client_;
  std::unique_ptr<rd_kafka_mock_cluster_t, Destroy> cluster_;
};

}  // namespace walpost::test
