#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "walpost/config/load.h"

namespace walpost::config {

/// Stands where a secret was.
inline constexpr std::string_view redacted = "***";

/// A libpq conninfo, URI or key=value, without passwords and other secrets. What can't be
/// understood is hidden as a whole.
[[nodiscard]] std::string redact_conninfo(std::string_view conninfo);

/// True for a librdkafka property whose value nobody else should read.
[[nodiscard]] bool is_secret_property(std::string_view name);

/// The whole effective configuration without its secrets, one `path: "value"` a line, for
/// debugging.
[[nodiscard]] std::vector<std::string> describe(const Loaded& loaded);

}  // namespace walpost::config
