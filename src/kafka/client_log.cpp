#include "client_log.h"

#include <spdlog/spdlog.h>

#include <string_view>

namespace walpost::kafka {
namespace {

// syslog(3)'s numbers, which librdkafka uses.
constexpr int syslog_error = 3;
constexpr int syslog_warning = 4;
constexpr int syslog_notice = 5;

spdlog::level::level_enum level_of(int syslog_level, std::string_view facility,
                                   std::string_view text) {
  // Both repeat what comes as an error event, once for every attempt to connect.
  if (facility == "FAIL" || facility == "ERROR") return spdlog::level::debug;
  // walpost sets the property that librdkafka calls experimental, always, and tests what it does.
  if (facility == "CONFWARN" && text.find("enable.gapless.guarantee") != std::string_view::npos) {
    return spdlog::level::debug;
  }
  if (syslog_level <= syslog_error) return spdlog::level::err;
  if (syslog_level == syslog_warning) return spdlog::level::warn;
  return syslog_level == syslog_notice ? spdlog::level::info : spdlog::level::debug;
}

}  // namespace

void ClientLog::line(rd_kafka_event_t* event, relay::Instant now) {
  const char* facility = "";
  const char* text = "";
  int level = syslog_notice;
  if (rd_kafka_event_log(event, &facility, &text, &level) != 0) return;
  // Repeated twice a second for as long as no producer id can be had. A cluster that has just come
  // up says so for its first moments.
  if (std::string_view(facility) == "GETPID") {
    if (std::string_view(text).find("load in progress") != std::string_view::npos) return;
    return trouble(false, text, now);
  }
  if (std::string_view(facility) == "PARTCNT") {
    spdlog::warn("kafka: {}; keys stay where they are until walpost's next producer", text);
    return;
  }
  spdlog::log(level_of(level, facility, text), "librdkafka: {}: {}", facility, text);
}

void ClientLog::error(rd_kafka_event_t* event, relay::Instant now) {
  trouble(rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
          rd_kafka_event_error_string(event), now);
}

void ClientLog::trouble(bool all_down, std::string_view reason, relay::Instant now) {
  if (const auto line = watch_.trouble(all_down, reason, now)) {
    spdlog::warn("{}", *line);
  } else {
    spdlog::debug("kafka: {}", reason);
  }
}

void ClientLog::contact(relay::Instant now) {
  if (const auto line = watch_.contact(now)) spdlog::info("{}", *line);
}

}  // namespace walpost::kafka
