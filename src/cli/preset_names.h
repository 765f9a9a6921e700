#pragma once

#include <map>
#include <string>

#include "walpost/postgres/setup.h"

namespace walpost::cli {

/// How the shapes of outbox table are called on the command line.
[[nodiscard]] inline const std::map<std::string, postgres::OutboxPreset>& preset_names() {
  static const std::map<std::string, postgres::OutboxPreset> names{
      {"standard", postgres::OutboxPreset::standard},
      {"debezium", postgres::OutboxPreset::debezium},
  };
  return names;
}

}  // namespace walpost::cli
