#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "librdkafka.h"
#include "properties.h"
#include "walpost/kafka/check.h"
#include "walpost/outbox/nearest_name.h"

namespace walpost::kafka {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<long long> integer(std::string_view text) {
  long long value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool is_true(const std::string& value) {
  return value == "true" || value == "t" || value == "1";
}
bool is_false(const std::string& value) {
  return value == "false" || value == "f" || value == "0";
}
bool never(const std::string&) {
  return false;
}
bool is_zero(const std::string& value) {
  return integer(value) == 0;
}
bool is_all(const std::string& value) {
  return value == "all" || integer(value) == -1;
}
bool is_fifo(const std::string& value) {
  return value == "fifo";
}
bool is_unlimited(const std::string& value) {
  return integer(value) == 2147483647;
}
bool is_ordered_window(const std::string& value) {
  const auto requests = integer(value);
  return requests && *requests >= 1 && *requests <= 5;
}
bool is_murmur2(const std::string& value) {
  return value == "murmur2_random" || value == "murmur2";
}

/// A property whose value can break the delivery promise. None of these is a secret, so the refusal
/// may repeat the value.
struct Rule {
  std::string_view name;  ///< canonical
  bool (*safe)(const std::string& lower_case_value);
  std::string_view safe_values;
  std::string_view reason;
};

constexpr std::array<Rule, 11> rules{{
    {"request.required.acks", is_all, "all",
     "a record acknowledged by fewer than all in-sync replicas is lost with its leader"},
    {"enable.idempotence", is_true, "true",
     "without it a retry can double or reorder the events of a key"},
    {"enable.gapless.guarantee", is_true, "true",
     "without it later events become visible although an earlier one was refused"},
    {"message.timeout.ms", is_zero, "0",
     "an expired record is dropped while later ones of its key go through"},
    {"allow.auto.create.topics", is_false, "false",
     "a mistyped topic would be created with the broker's defaults instead of being refused; see "
     "route.create_topics"},
    {"partitioner", is_murmur2, "murmur2_random",
     "any other maps keys to other partitions than Kafka's own clients do, and some spread one "
     "key"},
    {"max.in.flight.requests.per.connection", is_ordered_window, "1 to 5",
     "brokers keep the order of an idempotent producer for at most 5 requests"},
    {"message.send.max.retries", is_unlimited, "2147483647",
     "a record whose retries run out is dropped"},
    {"queuing.strategy", is_fifo, "fifo", "it reverses the order of events"},
    {"delivery.report.only.error", is_false, "false",
     "without reports of success nothing could be confirmed to PostgreSQL"},
    {"transactional.id", never, "",
     "walpost manages it; two producers with one id would fence each other"},
}};

constexpr std::array<std::string_view, 11> code_properties{"opaque",
                                                           "default_topic_conf",
                                                           "enabled_events",
                                                           "interceptors",
                                                           "ssl_key",
                                                           "ssl_certificate",
                                                           "ssl_ca",
                                                           "ssl_engine_callback_data",
                                                           "msg_order_cmp",
                                                           "log.queue",
                                                           "plugin.library.paths"};

bool needs_code(std::string_view name) {
  return name.ends_with("_cb") || std::ranges::find(code_properties, name) != code_properties.end();
}

std::optional<std::string> broken_rule(const std::string& name, const std::string& value) {
  if (needs_code(name)) {
    return "kafka." + name +
           " is refused: walpost sets it itself or has no use for it; leave it out";
  }
  const auto canonical = canonical_name(name);
  const auto* rule =
      std::ranges::find_if(rules, [&](const Rule& each) { return each.name == canonical; });
  if (rule == rules.end() || rule->safe(lower(value))) return std::nullopt;
  std::string text = "kafka." + name;
  if (rule->safe != never) text += "=" + value;
  text += " is refused: " + std::string(rule->reason) + "; leave it out";
  if (!rule->safe_values.empty()) text += " or set " + std::string(rule->safe_values);
  return text;
}

/// Every name that librdkafka documents, aliases included.
std::vector<std::string> known_names() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  rd_kafka_conf_properties_show(stream);
  std::fclose(stream);
  const std::unique_ptr<char, Destroy<std::free>> owner(text);

  std::vector<std::string> names;
  std::istringstream lines(std::string(text, size));
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find(' ');
    if (line.find('|') != std::string::npos && end != std::string::npos && end > 0 &&
        std::islower(static_cast<unsigned char>(line[0])) != 0) {
      names.push_back(line.substr(0, end));
    }
  }
  return names;
}

std::string unknown_property(const std::string& name) {
  std::string text = "kafka." + name + ": librdkafka has no such property";
  const auto meant = outbox::nearest_name(lower(name), known_names());
  return meant ? text + "; did you mean " + *meant + "?" : text;
}

/// Says what librdkafka has against a value, without the value: it may be a secret.
std::string invalid_value(const std::string& name, std::string_view reason) {
  std::string text = "kafka." + name + ": librdkafka doesn't accept the value";
  constexpr std::array<std::string_view, 2> harmless{"outside allowed range",
                                                     "not supported in this build"};
  for (const auto part : harmless) {
    const auto at = reason.find(part);
    if (at != std::string_view::npos) return text + ": " + std::string(reason.substr(at));
  }
  return text;
}

std::optional<std::string> librdkafka_error(rd_kafka_conf_t* conf, const std::string& name,
                                            const std::string& value) {
  std::array<char, 512> reason{};
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), reason.data(), reason.size())) {
    case RD_KAFKA_CONF_OK:
      return std::nullopt;
    case RD_KAFKA_CONF_UNKNOWN:
      return unknown_property(name);
    case RD_KAFKA_CONF_INVALID:
      return invalid_value(name, reason.data());
  }
  return invalid_value(name, reason.data());
}

}  // namespace

std::vector<std::string> property_errors(const std::map<std::string, std::string>& properties) {
  std::vector<std::string> errors;
  std::map<std::string_view, std::string_view> seen;
  const ConfHandle conf(rd_kafka_conf_new());
  for (const auto& [name, value] : properties) {
    const auto [earlier, is_new] = seen.emplace(canonical_name(name), name);
    if (!is_new) {
      errors.push_back("kafka." + name + " and kafka." + std::string(earlier->second) +
                       " are two names of one property: keep one");
    }
    auto error = broken_rule(name, value);
    if (!error) error = librdkafka_error(conf.get(), name, value);
    if (error) errors.push_back(*std::move(error));
  }
  if (!seen.contains("metadata.broker.list") && !seen.contains("test.mock.num.brokers")) {
    errors.emplace_back("kafka.bootstrap.servers isn't set: name at least one broker as host:port");
  }
  return errors;
}

}  // namespace walpost::kafka
