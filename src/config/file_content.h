#pragma once

#include <string>

namespace walpost::config {

/// The whole content of a file of up to 1 MiB, far more than a configuration or a secret needs.
/// Throws std::system_error.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace walpost::config
