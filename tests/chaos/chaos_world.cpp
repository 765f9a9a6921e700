#include "chaos/chaos_world.h"

#include <csignal>
#include <stdexcept>

namespace walpost::test {
namespace {

constexpr std::size_t instances = 2;
constexpr int sessions = 4;

// The last lines of a log, which are about the last rounds.
std::string tail_of(const std::string& log) {
  constexpr std::size_t most = 6000;
  return log.size() <= most ? log : log.substr(log.size() - most);
}

}  // namespace

const std::vector<ChaosWorld::Fault>& ChaosWorld::all_faults() {
  static const std::vector<Fault> all{
      {"walpost killed", &ChaosWorld::kill_instance},
      {"walpost stopped", &ChaosWorld::stop_instance},
      {"walpost asleep through a takeover", &ChaosWorld::sleep_through_takeover},
      {"broker killed", &ChaosWorld::kill_broker},
      {"broker bounced", &ChaosWorld::bounce_broker},
      {"broker paused", &ChaosWorld::pause_broker},
      {"all brokers paused", &ChaosWorld::pause_all_brokers},
      {"all brokers killed", &ChaosWorld::kill_all_brokers},
      {"PostgreSQL stopped immediately", &ChaosWorld::crash_server},
      {"PostgreSQL stopped fast", &ChaosWorld::stop_server},
      {"walsender terminated", &ChaosWorld::terminate_walsender},
      {"network cut", &ChaosWorld::cut_network},
      {"network cut in a message", &ChaosWorld::cut_network_in_a_message},
      {"network half-open", &ChaosWorld::stall_network},
  };
  return all;
}

ChaosWorld::ChaosWorld(std::uint64_t seed)
    : random_(seed),
      world_(cluster_.node(0),
             {.postgres = {.settings = {{"wal_sender_timeout", "2s"}}, .durable = true},
              .topic_configs = {{"min.insync.replicas", "2"}}}),
      network_(world_.server.port()),
      writers_(std::make_unique<Writers>(world_.server.conninfo(), sessions, seed)) {
  for (std::size_t i = 0; i < instances; ++i) instances_.push_back(start_instance());
}

std::unique_ptr<Walpost> ChaosWorld::start_instance() const {
  WalpostOptions options = world_.arguments({"postgres.read_timeout=3s"});
  options.postgres =
      "host=127.0.0.1 port=" + std::to_string(network_.port()) + " user=postgres dbname=postgres";
  options.kafka = cluster_.bootstrap();
  return std::make_unique<Walpost>(options);
}

void ChaosWorld::revive_instances() {
  for (auto& instance : instances_)
    if (!instance->process().running()) instance = start_instance();
}

std::unique_ptr<Walpost>& ChaosWorld::holder() {
  for (auto& instance : instances_) {
    const std::string log = instance->log();
    const auto streaming = log.rfind("streaming from slot");
    const auto standing_by = log.rfind("standing by");
    if (streaming == std::string::npos) continue;
    if (standing_by == std::string::npos || standing_by < streaming) return instance;
  }
  return instances_[below(instances_.size())];
}

std::string ChaosWorld::round() {
  let_pass(100, 600);
  const Fault& fault = all_faults()[below(all_faults().size())];
  (this->*fault.apply)();
  revive_instances();
  ++faults_[fault.name];
  return fault.name;
}

// A moment chosen by chance has no event to wait for.
void ChaosWorld::let_pass(std::size_t least, std::size_t most) {
  const auto span = milliseconds(least + below(most - least + 1));
  static_cast<void>(eventually([] { return false; }, Deadline::in(span)));
}

void ChaosWorld::kill_instance() {
  holder()->kill();
}

void ChaosWorld::stop_instance() {
  std::unique_ptr<Walpost>& instance = holder();
  if (instance->stop() != exited(0))
    throw std::runtime_error("a stop didn't end well: " + tail_of(instance->log()));
}

void ChaosWorld::sleep_through_takeover() {
  Walpost& asleep = *holder();
  asleep.process().signal(SIGSTOP);
  let_pass(2500, 3500);  // wal_sender_timeout is 2 s
  asleep.process().signal(SIGCONT);
}

void ChaosWorld::kill_broker() {
  KafkaBroker& broker = any_broker();
  broker.kill();
  let_pass(0, 500);
  broker.launch();
  broker.await_ready();
}

void ChaosWorld::bounce_broker() {
  KafkaBroker& broker = any_broker();
  broker.stop();
  broker.launch();
  broker.await_ready();
}

void ChaosWorld::pause_broker() {
  KafkaBroker& broker = any_broker();
  broker.pause();
  let_pass(200, 3000);
  broker.resume();
}

void ChaosWorld::pause_all_brokers() {
  for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.node(i).pause();
  let_pass(200, 2500);
  for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.node(i).resume();
}

void ChaosWorld::kill_all_brokers() {
  for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.node(i).kill();
  for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.node(i).launch();
  for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.node(i).await_ready();
}

void ChaosWorld::crash_server() {
  world_.server.stop(StopMode::immediate);
  world_.server.start();
}

void ChaosWorld::stop_server() {
  // The promise is that walpost never makes it wait.
  world_.server.stop(StopMode::fast, Deadline::in(milliseconds(5000)));
  world_.server.start();
}

void ChaosWorld::terminate_walsender() {
  world_.server.exec(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where active");
}

void ChaosWorld::cut_network() {
  network_.cut();
}

void ChaosWorld::cut_network_in_a_message() {
  network_.cut_after(below(100000));
}

void ChaosWorld::stall_network() {
  network_.stall();
  let_pass(500, 4000);
  network_.resume();
}

bool ChaosWorld::catches_up(Deadline deadline) {
  const std::string committed = world_.server.value("select pg_current_wal_lsn()");
  return eventually(
      [&] {
        revive_instances();
        return world_.server.value("select confirmed_flush_lsn >= '" + committed +
                                   "' from pg_replication_slots where slot_name = 'walpost'") ==
               "t";
      },
      deadline);
}

Comparison ChaosWorld::finish() {
  writers_->stop();
  if (!catches_up(Deadline::in(milliseconds(60000))))
    throw std::runtime_error("the slot doesn't come to the end of the WAL\n" + logs());
  for (auto& instance : instances_) instance->stop();
  return world_.compare();
}

std::string ChaosWorld::logs() const {
  std::string all;
  for (const auto& instance : instances_)
    all += "---- an instance's log, its end\n" + tail_of(instance->log());
  return all;
}

}  // namespace walpost::test
