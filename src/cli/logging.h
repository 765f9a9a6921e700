#pragma once

#include <memory>

#include <spdlog/formatter.h>

#include "walpost/config/config.h"

namespace walpost::cli {

/// How a line of the log looks. Text: "2026-01-31T12:00:00.123Z info message". JSON: one object a
/// line with the members ts, level and msg. Times are UTC.
[[nodiscard]] std::unique_ptr<spdlog::formatter> log_formatter(config::LogFormat format);

/// Makes spdlog's default logger write to standard error. Call once, before the first message.
void set_up_logging(const config::LogOptions& options);

}  // namespace walpost::cli
