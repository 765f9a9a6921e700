#include "logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <string>

namespace walpost::cli {
namespace {

/// The message as a JSON string, quotes included. Bytes that aren't UTF-8 become U+FFFD.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const nlohmann::json text(std::string(message.payload.data(), message.payload.size()));
    const std::string escaped = text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(escaped.data(), escaped.data() + escaped.size());
  }

  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> log_formatter(config::LogFormat format) {
  constexpr auto utc = spdlog::pattern_time_type::utc;
  auto formatter = std::make_unique<spdlog::pattern_formatter>(utc, "\n");
  switch (format) {
    case config::LogFormat::text:
      formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v");
      break;
    case config::LogFormat::json:
      formatter->add_flag<JsonMessage>('*').set_pattern(
          R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","msg":%*})");
      break;
  }
  return formatter;
}

void set_up_logging(const config::LogOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("walpost",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(log_formatter(options.format));
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace walpost::cli
