#include "walpost/config/load.h"

#include <cstdlib>
#include <iterator>
#include <system_error>
#include <utility>

#include "expansion.h"
#include "file_content.h"
#include "schema.h"
#include "setting.h"
#include "validation.h"

namespace walpost::config {
namespace {

constexpr const char* file_variable = "WALPOST_CONFIG";
constexpr const char* postgres_variable = "WALPOST_POSTGRES_URL";
constexpr const char* kafka_variable = "WALPOST_KAFKA_BOOTSTRAP_SERVERS";

constexpr const char* postgres_path = "postgres.url";
constexpr const char* kafka_path = "kafka.bootstrap.servers";
/// librdkafka's other name of it: one setting, or a layer couldn't win over another.
constexpr const char* kafka_alias = "kafka.metadata.broker.list";

/// A variable that compose files and the like set to nothing counts as not set.
std::optional<std::string> given_variable(const Environment& environment, const char* name) {
  auto value = environment(name);
  return value && !value->empty() ? value : std::nullopt;
}

void read_file_layer(const std::string& path, Layers& layers) {
  try {
    read_document(read_file(path), path, layers);
  } catch (const std::system_error& failure) {
    layers.problems.push_back({"", "cannot read the file: " + failure.code().message(), path});
  }
}

void add_verbatim(const char* path, const std::optional<std::string>& value, const char* where,
                  Layers& layers) {
  if (value) {
    layers.settings.push_back({path, *value, where, true});
  }
}

Layers read_layers(const CommandLine& command_line, const Environment& environment) {
  Layers layers;
  const auto file =
      command_line.file ? command_line.file : given_variable(environment, file_variable);
  if (file) {
    read_file_layer(*file, layers);
  }
  add_verbatim(postgres_path, given_variable(environment, postgres_variable), postgres_variable,
               layers);
  add_verbatim(kafka_path, given_variable(environment, kafka_variable), kafka_variable, layers);
  for (const std::string& assignment : command_line.sets) {
    read_assignment(assignment, layers);
  }
  add_verbatim(postgres_path, command_line.postgres_url, "--postgres", layers);
  add_verbatim(kafka_path, command_line.kafka_brokers, "--kafka", layers);
  add_verbatim("log.level", command_line.log_level, "--log-level", layers);
  add_verbatim("log.format", command_line.log_format, "--log-format", layers);
  return layers;
}

Given merge(std::vector<Setting> settings) {
  Given given;
  for (Setting& setting : settings) {
    if (setting.path == kafka_alias) {
      setting.path = kafka_path;
    }
    if (setting.text) {
      given.insert_or_assign(setting.path, std::move(setting));
    } else {
      given.erase(setting.path);
    }
  }
  return given;
}

/// The value as it is written: an expanded one may be a secret.
std::string complaint_about(const Setting& setting, const std::string& complaint,
                            const std::string& expanded) {
  const std::string& written = *setting.text;
  return complaint + ", not \"" + written + "\"" +
         (expanded == written ? "" : " as it is now expanded");
}

/// Expands one setting and stores it, or says what is wrong with it.
void apply(const Setting& setting, const Environment& environment, Loaded& loaded,
           std::vector<Problem>& problems) {
  Expansion value =
      setting.verbatim ? Expansion{*setting.text, false, {}} : expand(*setting.text, environment);
  for (std::string& problem : value.problems) {
    problems.push_back({setting.path, std::move(problem), setting.where});
  }
  if (!value.problems.empty()) {
    return;
  }
  if (value.from_file) {
    loaded.secrets.insert(setting.path);
  }
  if (const ValueKey* key = find_value_key(setting.path)) {
    if (const auto complaint = key->set(loaded.config, value.text)) {
      problems.push_back(
          {setting.path, complaint_about(setting, *complaint, value.text), setting.where});
    }
  } else if (const MapKey* map = find_map_of_entry(setting.path)) {
    map->entries(loaded.config)
        .insert_or_assign(setting.path.substr(map->path.size() + 1), std::move(value.text));
  }
}

std::string summary(const std::vector<Problem>& problems) {
  std::string text = "the configuration is not valid:";
  for (const Problem& problem : problems) {
    text += "\n  " + problem.to_string();
  }
  return text;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::string Problem::to_string() const {
  // The rooms below begin their sentences with the setting themselves.
  std::string text = path.empty() || what.starts_with(path) ? what : path + ": " + what;
  if (!where.empty()) {
    text += " (" + where + ")";
  }
  return text;
}

InvalidConfig::InvalidConfig(std::vector<Problem> problems)
    : std::runtime_error(summary(problems)), problems_(std::move(problems)) {}

Loaded load(const CommandLine& command_line, const Environment& environment) {
  Layers layers = read_layers(command_line, environment);
  std::vector<Problem> problems = std::move(layers.problems);
  const Given given = merge(std::move(layers.settings));
  Loaded loaded;
  for (const auto& [path, setting] : given) {
    apply(setting, environment, loaded, problems);
  }
  std::vector<Problem> cross = validate(loaded.config, given);
  problems.insert(problems.end(), std::make_move_iterator(cross.begin()),
                  std::make_move_iterator(cross.end()));
  if (!problems.empty()) {
    throw InvalidConfig(std::move(problems));
  }
  return loaded;
}

}  // namespace walpost::config
