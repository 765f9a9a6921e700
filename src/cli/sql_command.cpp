#include <iostream>
#include <memory>

#include "command_line.h"
#include "outbox_arguments.h"

namespace walpost::cli {
namespace {

struct OutboxRequest {
  std::string preset = "standard";
  std::string table = "outbox";
};

ExitCode print_outbox(const OutboxRequest& request) {
  std::cout << postgres::outbox_ddl(preset(request.preset), request.table);
  return ExitCode::done;
}

}  // namespace

void add_sql_command(CLI::App& app, config::CommandLine& options, Action& action) {
  CLI::App* command = app.add_subcommand("sql", "Print DDL");
  add_common_options(*command, options);
  command->require_subcommand(1);
  command->fallthrough();

  CLI::App* outbox = command->add_subcommand("outbox", "An outbox table");
  auto request = std::make_shared<OutboxRequest>();
  outbox->add_option("--preset", request->preset, "Its columns: standard or debezium")
      ->type_name("PRESET")
      ->capture_default_str()
      ->check(is_preset());
  outbox->add_option("--table", request->table, "Its name, with or without a schema")
      ->type_name("NAME")
      ->check(is_table_name())
      ->capture_default_str();
  CLI::App* letters = command->add_subcommand("dead-letter", "The tables of dead letters");
  letters->callback([&action] {
    action = [] {
      std::cout << postgres::dead_letter_ddl();
      return ExitCode::done;
    };
  });
  outbox->callback([request, &action] { action = [request] { return print_outbox(*request); }; });
}

}  // namespace walpost::cli
