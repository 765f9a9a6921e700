#include "outbox_arguments.h"

#include <map>

#include "walpost/relay/failure.h"

namespace walpost::cli {
namespace {

const std::map<std::string, postgres::OutboxPreset>& presets() {
  static const std::map<std::string, postgres::OutboxPreset> names{
      {"standard", postgres::OutboxPreset::standard},
      {"debezium", postgres::OutboxPreset::debezium},
  };
  return names;
}

}  // namespace

postgres::OutboxPreset preset(const std::string& name) {
  return presets().at(name);
}

CLI::Validator is_preset() {
  return CLI::Validator(
      [](const std::string& name) -> std::string {
        return presets().contains(name) ? "" : "must be standard or debezium, not \"" + name + "\"";
      },
      "");
}

CLI::Validator is_table_name() {
  return CLI::Validator(
      [](const std::string& name) -> std::string {
        try {
          static_cast<void>(postgres::outbox_ddl(postgres::OutboxPreset::standard, name));
          return "";
        } catch (const relay::SessionFailure& failure) {
          return failure.what() + std::string("; ") + failure.mend();
        }
      },
      "");
}

}  // namespace walpost::cli
