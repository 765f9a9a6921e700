#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "exit_code.h"
#include "walpost/config/load.h"

namespace walpost::cli {

/// "walpost 0.1.0"
[[nodiscard]] std::string version();

/// What the chosen command does once the whole command line is known to be right.
using Action = std::function<ExitCode()>;

/// Adds the options that every command has. Both outlive parsing.
void add_common_options(CLI::App& command, config::CommandLine& options);

// One function a command, each in the file of its name: adds the command to `app`, filling
// `options`, and sets `action` when it is the one that was chosen.
void add_run_command(CLI::App& app, config::CommandLine& options, Action& action);
void add_init_command(CLI::App& app, config::CommandLine& options, Action& action);
void add_check_command(CLI::App& app, config::CommandLine& options, Action& action);
void add_dlq_command(CLI::App& app, config::CommandLine& options, Action& action);
void add_sql_command(CLI::App& app, config::CommandLine& options, Action& action);

/// The configuration from every layer, with the log set up as it says. Throws
/// config::InvalidConfig.
[[nodiscard]] config::Config load_config(const config::CommandLine& options);

}  // namespace walpost::cli
