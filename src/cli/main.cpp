#include <csignal>
#include <exception>
#include <iostream>

#include "command_line.h"
#include "walpost/relay/failure.h"

namespace {

using walpost::cli::ExitCode;

void explain(const walpost::relay::SessionFailure& failure) {
  std::cerr << "walpost: " << failure.what() << "\n";
  if (!failure.mend().empty()) {
    std::cerr << "  " << failure.mend() << "\n";
  }
}

/// Every error that a command ends in becomes a message and an exit code here.
ExitCode perform(const walpost::cli::Action& action) {
  try {
    return action();
  } catch (const walpost::config::InvalidConfig& invalid) {
    std::cerr << "walpost: " << invalid.what() << "\n";
    return ExitCode::usage;
  } catch (const walpost::relay::SessionFailure& failure) {
    explain(failure);
    return walpost::cli::exit_code(failure.kind());
  } catch (const std::exception& error) {
    std::cerr << "walpost: unexpected error: " << error.what() << "\n";
    return ExitCode::failed;
  }
}

ExitCode run_command_line(int argc, char** argv) {
  CLI::App app("Publishes a transactional outbox from PostgreSQL's write-ahead log to Kafka",
               "walpost");
  walpost::config::CommandLine options;
  walpost::cli::Action action;
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", walpost::cli::version(), "Print the version and exit");
  app.require_subcommand(0, 1);
  walpost::cli::add_run_command(app, options, action);
  walpost::cli::add_init_command(app, options, action);
  walpost::cli::add_check_command(app, options, action);
  walpost::cli::add_dlq_command(app, options, action);
  walpost::cli::add_sql_command(app, options, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::done : ExitCode::usage;
  }
  if (!action) {
    std::cerr << app.help();
    return ExitCode::usage;
  }
  return perform(action);
}

}  // namespace

int main(int argc, char** argv) {
  // A peer that is gone is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  return static_cast<int>(run_command_line(argc, argv));
}
