#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "support/deadline.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace walpost::test {

/// The ports of one node.
struct KafkaPorts {
  std::uint16_t broker;
  std::uint16_t controller;
  static KafkaPorts free();
};

struct KafkaOptions {
  std::map<std::string, std::string> properties;  ///< of server.properties, over the defaults here
  int heap_mib = 384;
  /// With the Java flags of Kafka's own start script: slower to start, faster once it has compiled.
  bool as_shipped = false;
  std::optional<KafkaPorts> ports = std::nullopt;  ///< nothing: free ones
  bool started = true;  ///< false: for a node that answers only when others run, see launch()
};

/// A throw-away single-node Apache Kafka (KRaft) on a free port of 127.0.0.1, from the jars in
/// $WALPOST_KAFKA_LIB, else in the cache folder that scripts/fetch-kafka fills. Starting one costs
/// about 3 s and 400 MB: tests that don't stop it use shared() and a topic of their own.
class KafkaBroker {
 public:
  /// Makes the broker and starts it; returns when it answers.
  explicit KafkaBroker(KafkaOptions options = {});
  ~KafkaBroker();
  KafkaBroker(const KafkaBroker&) = delete;
  KafkaBroker& operator=(const KafkaBroker&) = delete;

  /// The one of this test binary, started by the first who asks. Not to be stopped or paused.
  static KafkaBroker& shared();

  /// Starts it again after stop() or kill(): same port, same data.
  void start();
  /// The two halves of start().
  void launch();
  void await_ready();
  void stop();
  void kill();
  /// SIGSTOP: connections stay open and nothing answers.
  void pause();
  void resume();

  /// HOST:PORT for bootstrap.servers.
  [[nodiscard]] std::string bootstrap() const;
  /// Throws if it exists or can't be made. `configs` are topic settings such as max.message.bytes.
  void create_topic(const std::string& name, int partitions = 1,
                    const std::map<std::string, std::string>& configs = {});
  void delete_topic(const std::string& name);
  /// `prefix` with an ending that no other topic of this process has.
  static std::string unique_topic(const std::string& prefix = "topic");

  [[nodiscard]] Process& process() { return *process_; }

 private:
  void write_properties() const;

  KafkaOptions options_;
  TempDir folder_;
  KafkaPorts ports_;
  std::unique_ptr<Process> process_;
};

}  // namespace walpost::test
