#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "walpost/postgres/setup.h"

namespace walpost::cli {

/// The shape of outbox table of that name. REQUIRES: is_preset() accepts it.
[[nodiscard]] postgres::OutboxPreset preset(const std::string& name);

/// Refuse what is no preset's name, and what is no table's name.
[[nodiscard]] CLI::Validator is_preset();
[[nodiscard]] CLI::Validator is_table_name();

}  // namespace walpost::cli
