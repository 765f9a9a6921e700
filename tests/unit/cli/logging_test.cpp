#include "logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace walpost::cli {
namespace {

using config::LogFormat;

/// One line of the log, at 2026-01-31 12:00:00.123 UTC.
std::string line(LogFormat format, spdlog::level::level_enum level, const std::string& message) {
  const auto time = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) +
                    std::chrono::hours(12) + std::chrono::milliseconds(123);
  const spdlog::details::log_msg entry(time, {}, "walpost", level, message);
  spdlog::memory_buf_t out;
  log_formatter(format)->format(entry, out);
  return {out.data(), out.size()};
}

TEST(LoggingTest, TextIsTimeInUtcLevelMessage) {
  EXPECT_EQ(line(LogFormat::text, spdlog::level::info, "streaming"),
            "2026-01-31T12:00:00.123Z info streaming\n");
}

TEST(LoggingTest, JsonIsOneObjectALine) {
  EXPECT_EQ(line(LogFormat::json, spdlog::level::err, "stopped"),
            "{\"ts\":\"2026-01-31T12:00:00.123Z\",\"level\":\"error\",\"msg\":\"stopped\"}\n");
}

TEST(LoggingTest, JsonKeepsEveryCharacterOfTheMessage) {
  const std::string message = "a \"quoted\" \\ path\nDETAIL:\ttwo lines \x01 ü";
  const std::string text = line(LogFormat::json, spdlog::level::info, message);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(nlohmann::json::parse(text).at("msg"), message);
}

TEST(LoggingTest, JsonStaysValidForBytesThatAreNotUtf8) {
  const std::string text = line(LogFormat::json, spdlog::level::info,
                                "a\xff"
                                "b");
  EXPECT_EQ(nlohmann::json::parse(text).at("msg"),
            "a\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace walpost::cli
