#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>

#include "command_line.h"
#include "findings_table.h"
#include "walpost/kafka/check.h"
#include "walpost/kafka/position_topic.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/setup.h"

namespace walpost::cli {
namespace {

// Long enough for a broker behind a slow name server, short enough for a container's start probe.
constexpr std::chrono::seconds kafka_timeout{10};

ExitCode check(const config::CommandLine& options) {
  config::Config config = load_config(options);
  const outbox::Router router(config.route);
  config.kafka.known_topics = router.known_topics();
  if (!config.relay.poison.dead_letter_topic.empty()) {
    config.kafka.known_topics.push_back(config.relay.poison.dead_letter_topic);
  }
  if (config.keeps_position_in_kafka()) config.kafka.position_slot = config.postgres.slot;
  kafka::PositionTopic positions(config.kafka, kafka::PositionTopic::Patience::transactions,
                                 [] { return false; });
  std::vector<relay::Finding> findings =
      postgres::check(config.postgres, config.outbox, router, config.relay.poison.keeps_table(),
                      config.keeps_position_in_kafka() ? &positions : nullptr);
  std::vector<relay::Finding> of_kafka = kafka::check(config.kafka, kafka_timeout);
  findings.insert(findings.end(), std::make_move_iterator(of_kafka.begin()),
                  std::make_move_iterator(of_kafka.end()));
  std::cout << findings_table(findings);
  const bool failed = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.level == relay::Finding::Level::fail;
  });
  return failed ? ExitCode::failed : ExitCode::done;
}

}  // namespace

void add_check_command(CLI::App& app, config::CommandLine& options, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Check PostgreSQL, the outbox and Kafka; exit 1 on any fail");
  add_common_options(*command, options);
  command->callback([&] { action = [&] { return check(options); }; });
}

}  // namespace walpost::cli
