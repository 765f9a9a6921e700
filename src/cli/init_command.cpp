#include <iostream>
#include <memory>

#include "command_line.h"
#include "outbox_arguments.h"

namespace walpost::cli {
namespace {

struct InitRequest {
  std::vector<std::string> tables;  ///< none: what the publication holds, or else "outbox"
  std::string preset;               ///< empty: don't create tables
  bool dead_letter = false;
  bool dry_run = false;
};

postgres::SetupRequest setup_request(const InitRequest& request) {
  postgres::SetupRequest setup{request.tables, std::nullopt, request.dead_letter};
  if (!request.preset.empty()) {
    setup.create_outbox = preset(request.preset);
  }
  return setup;
}

/// What somebody can read, keep, or feed to psql.
void print_sql(const std::vector<postgres::SetupStep>& steps) {
  for (const postgres::SetupStep& step : steps) {
    std::cout << "-- " << step.what << (step.done ? ": exists\n" : "\n");
    if (!step.done) {
      std::cout << step.sql << (step.sql.ends_with('\n') ? "" : "\n");
    }
  }
}

/// One step at a time: creating the slot can take as long as the oldest transaction of the server,
/// and whoever waits should see for what.
void apply(const postgres::Options& options, const std::vector<postgres::SetupStep>& steps) {
  for (const postgres::SetupStep& step : steps) {
    if (step.done) {
      std::cout << step.what << ": exists\n";
      continue;
    }
    std::cout << step.what << ": " << std::flush;
    try {
      postgres::apply_setup(options, {step});
    } catch (...) {
      std::cout << "failed" << std::endl;
      throw;
    }
    std::cout << "created\n";
  }
}

ExitCode init(const config::CommandLine& options, const InitRequest& request) {
  const config::Config config = load_config(options);
  const auto steps = postgres::plan_setup(config.postgres, setup_request(request));
  if (request.dry_run) {
    print_sql(steps);
  } else {
    apply(config.postgres, steps);
  }
  return ExitCode::done;
}

}  // namespace

void add_init_command(CLI::App& app, config::CommandLine& options, Action& action) {
  CLI::App* command = app.add_subcommand("init", "Create the publication and the slot; idempotent");
  auto request = std::make_shared<InitRequest>();
  command
      ->add_option("--table", request->tables,
                   "An outbox table to publish; repeatable (default: outbox)")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(is_table_name());
  command
      ->add_flag(
          "--create-outbox{standard}", request->preset,
          "Also create the tables that don't exist; --create-outbox=debezium for its columns")
      ->check(is_preset());
  command->add_flag("--dead-letter", request->dead_letter,
                    "Also create tables walpost.dead_letter and walpost.parked_key");
  command->add_flag("--dry-run", request->dry_run, "Print the SQL of what is missing, run nothing");
  add_common_options(*command, options);
  command->callback([&options, request, &action] {
    action = [&options, request] { return init(options, *request); };
  });
}

}  // namespace walpost::cli
