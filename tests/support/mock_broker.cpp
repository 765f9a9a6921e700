// librdkafka's in-process Kafka as a program of its own, for `scripts/demo --embedded`: no Java,
// and nothing is kept. It doesn't know topic creation; topics are made here.
//
//   walpost_mock_broker [--brokers N] [--topic NAME[:PARTITIONS]]...
//
// Prints the bootstrap servers on one line and runs until SIGTERM or SIGINT.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Topic {
  std::string name;
  int partitions = 1;
};

struct Arguments {
  int brokers = 1;
  std::vector<Topic> topics;
};

Topic parse_topic(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 1};
  return {text.substr(0, colon), std::stoi(text.substr(colon + 1))};
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--brokers")
      arguments.brokers = std::stoi(argv[i + 1]);
    else if (name == "--topic")
      arguments.topics.push_back(parse_topic(argv[i + 1]));
    else
      throw std::invalid_argument("unknown argument " + name);
  }
  if (argc % 2 == 0) throw std::invalid_argument("an argument has no value");
  return arguments;
}

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_mock_cluster_t* cluster) const {
    rd_kafka_mock_cluster_destroy(cluster);
  }
};

int serve(const Arguments& arguments) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigprocmask(SIG_BLOCK, &stop, nullptr);  // before librdkafka makes its threads

  std::array<char, 256> error{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  // The client itself connects to nothing, of which it would warn.
  rd_kafka_conf_set(conf, "log_level", "3", error.data(), error.size());
  const std::unique_ptr<rd_kafka_t, Destroy> client(
      rd_kafka_new(RD_KAFKA_PRODUCER, conf, error.data(), error.size()));
  if (!client) throw std::runtime_error(error.data());
  const std::unique_ptr<rd_kafka_mock_cluster_t, Destroy> cluster(
      rd_kafka_mock_cluster_new(client.get(), arguments.brokers));
  if (!cluster) throw std::runtime_error("can't make the mock cluster");
  for (const Topic& topic : arguments.topics) {
    const auto made = rd_kafka_mock_topic_create(cluster.get(), topic.name.c_str(),
                                                 topic.partitions, arguments.brokers);
    if (made != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw std::runtime_error(topic.name + ": " + rd_kafka_err2str(made));
  }
  std::cout << rd_kafka_mock_cluster_bootstraps(cluster.get()) << std::endl;
  int received = 0;
  sigwait(&stop, &received);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "walpost_mock_broker: " << error.what() << "\n";
    return 2;
  }
}
