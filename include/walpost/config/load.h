#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "walpost/config/config.h"

namespace walpost::config {

/// What the command line says about the configuration. Everything here wins over the environment,
/// which wins over the file, which wins over the defaults.
struct CommandLine {
  std::optional<std::string> file;           ///< nothing: WALPOST_CONFIG, or no file at all
  std::vector<std::string> sets;             ///< "path=value", a later one wins
  std::optional<std::string> postgres_url;   ///< taken as is: `$` means nothing in it
  std::optional<std::string> kafka_brokers;  ///< taken as is
  std::optional<std::string> log_level;
  std::optional<std::string> log_format;
};

/// The value of an environment variable, or nothing where it isn't set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();

/// One thing that is wrong with the configuration. Never holds an expanded value.
struct Problem {
  std::string path;   ///< the setting, dotted; empty where the whole file is meant
  std::string what;   ///< what is wrong and what would be right
  std::string where;  ///< "walpost.yaml, line 12" or "--set"; empty for a default

  /// "route.topc: unknown key; did you mean route.topic? (walpost.yaml, line 12)"
  [[nodiscard]] std::string to_string() const;
};

/// Everything that is wrong with the configuration, at once.
class InvalidConfig : public std::runtime_error {
 public:
  explicit InvalidConfig(std::vector<Problem> problems);
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

struct Loaded {
  Config config;
  /// Settings whose value came out of a `${file:...}`: they are never shown.
  std::set<std::string, std::less<>> secrets;
};

/// Reads every layer, expands `${...}`, checks all of it. Reads files, connects to nothing.
/// Throws InvalidConfig.
[[nodiscard]] Loaded load(const CommandLine& command_line, const Environment& environment);

}  // namespace walpost::config
