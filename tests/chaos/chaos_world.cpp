#include "chaos/chaos_world.h"

#include <algorithm>
#include <stdexcept>

#include "support/kafka_admin.h"

namespace walpost::test {
namespace {

constexpr std::size_t instance_count = 2;
constexpr int sessions = 4;
constexpr int partitions = 6;
constexpr milliseconds admin_limit{30000};
constexpr milliseconds rest_limit{60000};

// Any transaction of more than a few hundred rows goes through the disk of the server.
const std::map<std::string, std::string> server_settings{{"wal_sender_timeout", "1s"},
                                                         {"logical_decoding_work_mem", "64kB"}};

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const auto& kind :
       {walpost_faults(), postgres_faults(), kafka_faults(), network_faults(), operator_faults()})
    all.insert(all.end(), kind.begin(), kind.end());
  return all;
}

}  // namespace

ChaosWorld::ChaosWorld(std::uint64_t seed, const std::string& only)
    : chance(seed),
      cluster({.breakable_network = true}),
      outbox_(cluster.node(0), {.postgres = {.settings = server_settings, .durable = true},
                                .partitions = partitions,
                                .topic_configs = {{"min.insync.replicas", "2"}}}),
      postgres_network((prepare(), server().port())),
      checker(server().conninfo(), cluster.bootstrap(), topic(), doomed_topic()),
      instances(arguments(), instance_count),
      writers(server().conninfo(), sessions, seed),
      all_(all_faults()) {
  std::erase_if(all_, [&](const Fault& fault) {
    return std::string_view(fault.name).find(only) == std::string_view::npos;
  });
  if (all_.empty()) throw std::runtime_error("no fault is named so: " + only);
}

void ChaosWorld::prepare() {
  CommitOrder::make_tables([this](const std::string& sql) { server().exec(sql); });
  server().exec("alter publication walpost add table outbox_doomed");
  make_doomed_topic();
  for (const std::string& each : {topic(), doomed_topic()})
    grant(cluster.bootstrap(), each, Right::all_allowed, Deadline::in(admin_limit));
}

std::string ChaosWorld::new_mark(const std::string& beginning) {
  return beginning + " " + std::to_string(++marks_);
}

KafkaBroker& ChaosWorld::any_broker() {
  cluster.await_ready();
  return cluster.node(chance.below(cluster.size()));
}

void ChaosWorld::make_doomed_topic() {
  create_topic(cluster.bootstrap(), doomed_topic(), partitions, {{"min.insync.replicas", "2"}},
               Deadline::in(admin_limit));
}

void ChaosWorld::delete_doomed_topic() {
  delete_topic(cluster.bootstrap(), doomed_topic(), Deadline::in(admin_limit));
}

void ChaosWorld::set_max_message_bytes(std::size_t bytes) {
  set_topic_configs(cluster.bootstrap(), topic(),
                    {{"min.insync.replicas", "2"}, {"max.message.bytes", std::to_string(bytes)}},
                    Deadline::in(admin_limit));
}

WalpostOptions ChaosWorld::arguments() const {
  WalpostOptions options =
      outbox_.arguments({"postgres.read_timeout=3s", "route.topics.Doomed=" + doomed_topic(),
                         "kafka.security.protocol=SASL_PLAINTEXT", "kafka.sasl.mechanisms=PLAIN",
                         std::string("kafka.sasl.username=") + KafkaCluster::client_user,
                         std::string("kafka.sasl.password=") + KafkaCluster::client_password});
  options.postgres = "host=127.0.0.1 port=" + std::to_string(postgres_network.port()) +
                     " user=postgres dbname=postgres";
  options.kafka = cluster.client_bootstrap();
  return options;
}

void ChaosWorld::init() {
  WalpostOptions options = arguments();
  options.extra = {"--table", "outbox", "--table", "outbox_doomed"};
  const Finished made = Walpost::command("init", options);
  if (made.status != exited(0)) throw std::runtime_error("walpost init: " + made.out + made.err);
}

Fault ChaosWorld::next_fault() {
  if (deck_.empty()) {
    deck_ = all_;
    for (std::size_t left = deck_.size(); left > 1; --left)
      std::swap(deck_[left - 1], deck_[chance.below(left)]);
  }
  const Fault fault = deck_.back();
  deck_.pop_back();
  return fault;
}

std::string ChaosWorld::round() {
  instances.forgive_nothing();
  chance.let_pass(50, 250);
  const Fault fault = next_fault();
  checker.during(fault.name);
  fault.apply(*this);
  instances.revive();
  ++faults_[fault.name];
  return fault.name;
}

void ChaosWorld::fail_with(const std::string& what) const {
  const auto violations = checker.violations();
  std::string all = violations.empty() ? what + "\n" : "the promise is broken\n";
  for (const std::string& violation : violations) all += violation + "\n";
  throw std::runtime_error(all + instances.logs());
}

void ChaosWorld::catch_up(Deadline deadline) {
  const std::string mark = new_mark("caught up");
  server().exec(CommitOrder::mark(mark));
  const std::string committed = server().value("select pg_current_wal_lsn()");
  const bool confirmed = eventually(
      [&] {
        instances.revive();
        return server().value("select confirmed_flush_lsn >= '" + committed +
                              "' from pg_replication_slots where slot_name = 'walpost'") == "t";
      },
      deadline);
  if (!confirmed) fail_with("no recovery");
  if (!checker.all_seen_before(mark, deadline)) fail_with("confirmed, but not in the topic");
}

Tally ChaosWorld::finish() {
  writers.stop();
  catch_up(Deadline::in(rest_limit));
  instances.stop_all();
  return checker.tally();
}

}  // namespace walpost::test
