#include "command_line.h"

#include <spdlog/spdlog.h>

#include "logging.h"
#include "walpost/config/redaction.h"

namespace walpost::cli {

std::string version() {
  return "walpost " WALPOST_VERSION;
}

void add_common_options(CLI::App& command, config::CommandLine& options) {
  constexpr const char* group = "Common options";
  command.set_help_flag("-h,--help", "Print this help and exit")->group(group);
  command.set_version_flag("--version", version(), "Print the version and exit")->group(group);
  command.add_option("-c,--config", options.file, "Configuration file (or WALPOST_CONFIG)")
      ->type_name("FILE")
      ->group(group);
  // Each --set takes one value: "--set a=1 b" must not swallow b.
  command.add_option("--set", options.sets, "Change one setting, such as kafka.linger.ms=5")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--postgres", options.postgres_url,
                  "Where PostgreSQL is: any libpq connection string (or WALPOST_POSTGRES_URL)")
      ->type_name("CONNINFO")
      ->group(group);
  command
      .add_option("--kafka", options.kafka_brokers,
                  "Kafka's bootstrap servers (or WALPOST_KAFKA_BOOTSTRAP_SERVERS)")
      ->type_name("HOST:PORT,...")
      ->group(group);
  command.add_option("--log-level", options.log_level, "trace, debug, info, warn or error")
      ->type_name("LEVEL")
      ->group(group);
  command.add_option("--log-format", options.log_format, "text or json")
      ->type_name("FORMAT")
      ->group(group);
}

config::Config load_config(const config::CommandLine& options) {
  config::Loaded loaded = config::load(options, config::process_environment());
  set_up_logging(loaded.config.log);
  if (spdlog::should_log(spdlog::level::debug)) {
    for (const std::string& line : config::describe(loaded)) {
      spdlog::debug("configuration: {}", line);
    }
  }
  return std::move(loaded.config);
}

}  // namespace walpost::cli
