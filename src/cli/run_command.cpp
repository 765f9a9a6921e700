#include <memory>

#include "command_line.h"
#include "scheduling.h"
#include "system_clock.h"
#include "walpost/kafka/position_topic.h"
#include "walpost/kafka/producer_sink.h"
#include "walpost/kafka/transactional_sink.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/dead_letter_table.h"
#include "walpost/postgres/replication_source.h"
#include "walpost/relay/relay.h"

namespace walpost::cli {
namespace {

std::unique_ptr<relay::Sink> make_sink(const config::Config& config, relay::Clock& clock) {
  if (config.guarantee == config::Guarantee::exactly_once)
    return kafka::make_transactional_sink(config.kafka, clock);
  return std::make_unique<kafka::ProducerSink>(config.kafka, clock);
}

ExitCode run(const config::CommandLine& options) {
  // First of all: librdkafka's threads inherit the signal mask and the scheduling.
  SystemClock clock;
  let_the_server_go_first();
  config::Config config = load_config(options);
  outbox::Mapper mapper(config.outbox);
  outbox::Router router(config.route);
  config.relay.slot = config.postgres.slot;
  config.kafka.known_topics = router.known_topics();
  const relay::PoisonOptions& poison = config.relay.poison;
  if (!poison.dead_letter_topic.empty()) {
    config.kafka.known_topics.push_back(poison.dead_letter_topic);
  }
  config.kafka.missing_topic_is_poison = poison.action != relay::OnPoison::stop;
  std::optional<postgres::DeadLetterTable> letters;
  if (poison.keeps_table()) letters.emplace(config.postgres, clock);
  config.kafka.transactions.events = config.relay.in_flight_events;
  if (config.keeps_position_in_kafka()) config.kafka.position_slot = config.postgres.slot;
  using Patience = kafka::PositionTopic::Patience;
  kafka::PositionTopic positions(
      config.kafka,
      config.guarantee == config::Guarantee::exactly_once ? Patience::none : Patience::transactions,
      [&clock] { return clock.stop_requests() > 0; });
  postgres::ReplicationSource source(config.postgres, config.outbox, router, clock,
                                     config.keeps_position_in_kafka() ? &positions : nullptr);
  const auto sink = make_sink(config, clock);
  relay::Relay relay(source, *sink, clock, mapper, router, config.relay,
                     letters ? &*letters : nullptr);
  return exit_code(relay.run().end);
}

}  // namespace

void add_run_command(CLI::App& app, config::CommandLine& options, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Publish the outbox until stopped");
  add_common_options(*command, options);
  command->callback([&] { action = [&] { return run(options); }; });
}

}  // namespace walpost::cli
