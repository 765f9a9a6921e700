#include "support/kafka_broker.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "support/free_port.h"
#include "support/kafka_admin.h"

namespace walpost::test {
namespace {

constexpr milliseconds start_limit{60000};
constexpr milliseconds stop_limit{30000};
constexpr milliseconds admin_limit{15000};
/// Any 16 bytes in base64; every test broker is a cluster of its own, nothing compares them.
constexpr const char* cluster_id = "d2FscG9zdC10ZXN0LWtmaw";

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::filesystem::path kafka_jars() {
  const std::string cache =
      environment_or("XDG_CACHE_HOME", environment_or("HOME", "") + "/.cache");
  std::filesystem::path folder = environment_or("WALPOST_KAFKA_LIB", cache + "/walpost/kafka/lib");
  if (!std::filesystem::exists(folder))
    throw std::runtime_error("no Kafka in " + folder.string() + "; run scripts/fetch-kafka");
  return folder;
}

/// Without the slow, optimising compiler a broker is up in half the time.
const std::vector<std::string> quick_start{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"};

/// Of kafka-run-class.sh in Kafka 4.1; its kafka-server-start.sh asks for the whole heap at once.
const std::vector<std::string> flags_as_shipped{"-server",
                                                "-XX:+UseG1GC",
                                                "-XX:MaxGCPauseMillis=20",
                                                "-XX:InitiatingHeapOccupancyPercent=35",
                                                "-XX:+ExplicitGCInvokesConcurrent",
                                                "-XX:MaxInlineLevel=15"};

std::vector<std::string> java(const std::vector<std::string>& flags,
                              const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"java", "-XX:-UsePerfData",
                                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"};
  // Kafka's classes, loaded once by scripts/fetch-kafka; halves the time again. Java ignores one
  // that was made by another version of it.
  const std::filesystem::path archive = kafka_jars().parent_path() / "classes.jsa";
  if (std::filesystem::exists(archive))
    command.insert(command.end(), {"-Xlog:cds=off", "-XX:SharedArchiveFile=" + archive.string()});
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-cp", (kafka_jars() / "*").string()});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

/// One node that is broker and controller and keeps its internal topics small. Nothing is created
/// behind a test's back.
std::map<std::string, std::string> default_properties(const std::string& broker,
                                                      const std::string& controller) {
  return {
      {"process.roles", "broker,controller"},
      {"node.id", "1"},
      {"controller.quorum.voters", "1@" + controller},
      {"controller.listener.names", "CONTROLLER"},
      {"listeners", "PLAINTEXT://" + broker + ",CONTROLLER://" + controller},
      {"advertised.listeners", "PLAINTEXT://" + broker},
      {"auto.create.topics.enable", "false"},
      {"num.partitions", "1"},
      {"offsets.topic.num.partitions", "1"},
      {"offsets.topic.replication.factor", "1"},
      {"transaction.state.log.num.partitions", "1"},
      {"transaction.state.log.replication.factor", "1"},
      {"transaction.state.log.min.isr", "1"},
      {"group.initial.rebalance.delay.ms", "0"},
      {"log.cleaner.dedupe.buffer.size", "8388608"},
      // After a kill the restarted broker is refused for as long as the old one's session lasts.
      {"broker.heartbeat.interval.ms", "300"},
      {"broker.session.timeout.ms", "2000"}};
}

}  // namespace

KafkaBroker::KafkaBroker(KafkaOptions options)
    : options_(std::move(options)), ports_(options_.ports.value_or(KafkaPorts::free())) {
  write_properties();
  const std::string properties = (folder_.path() / "server.properties").string();
  const Finished formatted = run_to_end(
      java(quick_start, {"kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", properties}),
      Deadline::in(start_limit));
  if (formatted.status != exited(0))
    throw std::runtime_error("can't format Kafka's storage: " + formatted.err + formatted.out);
  if (options_.started) start();
}

KafkaBroker::~KafkaBroker() = default;

KafkaBroker& KafkaBroker::shared() {
  static KafkaBroker broker;
  return broker;
}

KafkaPorts KafkaPorts::free() {
  return {free_port(), free_port()};
}

void KafkaBroker::start() {
  launch();
  await_ready();
}

void KafkaBroker::launch() {
  std::vector<std::string> flags = options_.as_shipped ? flags_as_shipped : quick_start;
  const std::string heap = std::to_string(options_.heap_mib) + "m";
  flags.push_back("-Xmx" + heap);
  if (options_.as_shipped) flags.push_back("-Xms" + heap);
  process_ = std::make_unique<Process>(
      java(flags, {"kafka.Kafka", (folder_.path() / "server.properties").string()}));
}

void KafkaBroker::await_ready() {
  const bool ready = eventually(
      [this] {
        if (!process_->running())
          throw std::runtime_error("Kafka ended: " + process_->standard_error());
        return broker_answers(bootstrap());
      },
      Deadline::in(start_limit), milliseconds(50));
  if (!ready) throw std::runtime_error("Kafka isn't ready: " + process_->standard_error());
}

void KafkaBroker::stop() {
  process_->signal(SIGTERM);
  if (!process_->wait(Deadline::in(stop_limit))) throw std::runtime_error("Kafka didn't stop");
}

void KafkaBroker::kill() {
  process_->signal(SIGKILL);
  process_->wait(Deadline::in(stop_limit));
}

void KafkaBroker::pause() {
  process_->signal(SIGSTOP);
}
void KafkaBroker::resume() {
  process_->signal(SIGCONT);
}

std::string KafkaBroker::bootstrap() const {
  return "127.0.0.1:" + std::to_string(ports_.broker);
}

void KafkaBroker::create_topic(const std::string& name, int partitions,
                               const std::map<std::string, std::string>& configs) {
  test::create_topic(bootstrap(), name, partitions, configs, Deadline::in(admin_limit));
}

void KafkaBroker::delete_topic(const std::string& name) {
  test::delete_topic(bootstrap(), name, Deadline::in(admin_limit));
}

std::string KafkaBroker::unique_topic(const std::string& prefix) {
  static std::atomic<int> count{0};
  return prefix + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

void KafkaBroker::write_properties() const {
  auto properties =
      default_properties(bootstrap(), "127.0.0.1:" + std::to_string(ports_.controller));
  properties["log.dirs"] = (folder_.path() / "data").string();
  for (const auto& [name, value] : options_.properties) properties[name] = value;
  std::ofstream file(folder_.path() / "server.properties");
  for (const auto& [name, value] : properties) file << name << "=" << value << "\n";
}

}  // namespace walpost::test
