#include <cstdint>
#include <iostream>
#include <memory>

#include "command_line.h"
#include "letter_listing.h"
#include "letter_retry.h"
#include "system_clock.h"
#include "walpost/relay/failure.h"

namespace walpost::cli {
namespace {

struct DlqRequest {
  bool all = false;
  bool json = false;
  std::int64_t id = 0;
  std::string key;
};

ExitCode list(const config::CommandLine& options, const DlqRequest& request) {
  SystemClock clock;
  const config::Config config = load_config(options);
  postgres::DeadLetterQueue queue(config.postgres, clock);
  const auto letters = queue.list(request.all);
  if (request.json) {
    for (const auto& letter : letters) std::cout << letter_json(letter, false) << "\n";
  } else {
    std::cout << letters_table(letters);
  }
  return ExitCode::done;
}

postgres::KeptLetter find(postgres::DeadLetterQueue& queue, std::int64_t id) {
  if (auto letter = queue.find(id)) return *std::move(letter);
  throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::walpost,
                              "dead letter " + std::to_string(id) + " does not exist for this slot",
                              "walpost dlq list --all");
}

ExitCode show(const config::CommandLine& options, const DlqRequest& request) {
  SystemClock clock;
  const config::Config config = load_config(options);
  postgres::DeadLetterQueue queue(config.postgres, clock);
  const postgres::KeptLetter letter = find(queue, request.id);
  std::cout << (request.json ? letter_json(letter, true) + "\n" : letter_text(letter));
  return ExitCode::done;
}

ExitCode retry(const config::CommandLine& options, const DlqRequest& request) {
  SystemClock clock;
  const config::Config config = load_config(options);
  postgres::DeadLetterQueue queue(config.postgres, clock);
  queue.lock_retries();
  LetterPublisher publisher(config.kafka, clock);
  LetterRetry retry(queue, publisher);
  if (request.all) {
    retry.all();
  } else if (request.id != 0) {
    retry.one(request.id);
  } else {
    retry.key(request.key);
  }
  return retry.failures() == 0 ? ExitCode::done : ExitCode::poisoned;
}

ExitCode discard(const config::CommandLine& options, const DlqRequest& request) {
  SystemClock clock;
  const config::Config config = load_config(options);
  postgres::DeadLetterQueue queue(config.postgres, clock);
  queue.lock_retries();
  const postgres::KeptLetter letter = find(queue, request.id);
  if (letter.state == "published") {
    throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::walpost,
                                "dead letter " + std::to_string(letter.id) + " is published",
                                "nothing is left to discard");
  }
  queue.discard(letter.id);
  std::cout << "dead letter " << letter.id << ": discarded\n";
  if (letter.key && !queue.release(*letter.key)) {
    std::cout << "later events of its key still wait: walpost dlq retry --key KEY publishes them\n";
  }
  return ExitCode::done;
}

using Run = ExitCode (*)(const config::CommandLine&, const DlqRequest&);

}  // namespace

void add_dlq_command(CLI::App& app, config::CommandLine& options, Action& action) {
  CLI::App* command =
      app.add_subcommand("dlq", "Events that were set aside: list, show, retry, discard");
  add_common_options(*command, options);
  command->require_subcommand(1);
  command->fallthrough();
  auto request = std::make_shared<DlqRequest>();
  const auto add = [&](const char* name, const char* what, Run run) {
    CLI::App* sub = command->add_subcommand(name, what);
    sub->callback([&options, &action, request, run] {
      action = [&options, request, run] { return run(options, *request); };
    });
    return sub;
  };
  CLI::App* listing =
      add("list", "Dead letters and parked events, in the order of the stream", list);
  listing->add_flag("--all", request->all, "Also those that were published or discarded");
  listing->add_flag("--json", request->json, "One JSON object a line");
  CLI::App* showing = add("show", "Everything that is kept of one", show);
  showing->add_option("ID", request->id, "Its number in the list")->required();
  showing->add_flag("--json", request->json, "As a JSON object");
  CLI::App* retrying = add("retry",
                           "Publish again, in order; a key of which no event is left is released "
                           "(exit code 4 if one fails again)",
                           retry);
  CLI::Option_group* which = retrying->add_option_group("which");
  which->add_option("ID", request->id, "One; a parked one with what waits behind it");
  which->add_option("--key", request->key, "All of one key");
  which->add_flag("--all", request->all, "All");
  which->require_option(1);
  CLI::App* discarding = add("discard", "Give one up for good", discard);
  discarding->add_option("ID", request->id, "Its number in the list")->required();
}

}  // namespace walpost::cli
