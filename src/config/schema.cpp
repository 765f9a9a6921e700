#include "schema.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "quantity.h"

namespace walpost::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Complaint = std::optional<std::string>;
using Shown = std::optional<std::string>;

Complaint set_name(std::string& target, const std::string& value) {
  // NAMEDATALEN - 1: PostgreSQL would cut a longer identifier silently.
  if (value.empty() || value.size() > 63) {
    return "must be a PostgreSQL identifier of 1 to 63 bytes";
  }
  target = value;
  return {};
}

Complaint set_slot(std::string& target, const std::string& value) {
  const bool legal = std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!legal || value.empty() || value.size() > 63) {
    return "must be 1 to 63 of a-z, 0-9 and _";
  }
  target = value;
  return {};
}

std::string duration_text(milliseconds duration) {
  return std::to_string(duration.count()) + "ms";
}

Complaint set_duration(milliseconds& target, const std::string& value, milliseconds least,
                       milliseconds most) {
  const auto parsed = parse_duration(value);
  if (!parsed) {
    return "must be a duration with a unit, such as 500ms, 10s or 5m";
  }
  if (*parsed < least || *parsed > most) {
    return "must be between " + duration_text(least) + " and " + duration_text(most);
  }
  target = *parsed;
  return {};
}

template <typename Number>
Complaint set_count(Number& target, const std::string& value, Number least, Number most) {
  const auto parsed = parse_count(value);
  if (!parsed || *parsed < static_cast<std::uint64_t>(least) ||
      *parsed > static_cast<std::uint64_t>(most)) {
    return "must be a whole number between " + std::to_string(least) + " and " +
           std::to_string(most);
  }
  target = static_cast<Number>(*parsed);
  return {};
}

Complaint set_bytes(std::size_t& target, const std::string& value) {
  const auto parsed = parse_size(value);
  if (!parsed) {
    return "must be a size such as 64MiB, 1GB or a plain number of bytes";
  }
  if (*parsed < std::size_t{1} << 20) {
    return "must be at least 1MiB";
  }
  target = *parsed;
  return {};
}

Complaint set_flag(bool& target, const std::string& value) {
  if (value != "true" && value != "false") {
    return "must be true or false";
  }
  target = value == "true";
  return {};
}

Complaint only(const std::string& value, std::string_view supported) {
  if (value != supported) {
    return "must be " + std::string(supported) + ": this version supports no other";
  }
  return {};
}

Complaint set_guarantee(Guarantee& target, const std::string& value) {
  if (value != "at_least_once" && value != "exactly_once") {
    return "must be at_least_once or exactly_once";
  }
  target = value == "exactly_once" ? Guarantee::exactly_once : Guarantee::at_least_once;
  return {};
}

std::string_view name(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::at_least_once:
      return "at_least_once";
    case Guarantee::exactly_once:
      return "exactly_once";
  }
  return {};
}

// `none`, `kafka`, or file:PATH.
Complaint set_position(Config& config, const std::string& value) {
  constexpr std::string_view file = "file:";
  if (value == "none" || value == "kafka") {
    config.position_topic = value == "kafka";
    config.postgres.position_file.reset();
    config.relay.confirm_spacing = relay::Options{}.confirm_spacing;
    return {};
  }
  if (!value.starts_with(file) || value.size() == file.size() || value.back() == '/') {
    return "must be none, kafka, or file: and the path of a file, such as "
           "file:/var/lib/walpost/position";
  }
  config.position_topic = false;
  config.postgres.position_file = value.substr(file.size());
  // Each confirmation waits for the disk: fewer of them, and a few more duplicates after a crash of
  // both sides.
  config.relay.confirm_spacing = 100ms;
  return {};
}

Complaint set_on_poison(Config& config, const std::string& value) {
  using relay::OnPoison;
  for (const OnPoison action : {OnPoison::stop, OnPoison::dead_letter, OnPoison::park}) {
    if (value != name(action)) continue;
    config.relay.poison.action = action;
    return {};
  }
  return "must be stop, dead_letter or park";
}

Complaint set_dead_letter_topic(Config& config, const std::string& value) {
  try {
    static_cast<void>(outbox::Router({.topics = {{"any", value}}}));
  } catch (const outbox::TemplateError&) {
    return "must be the name of a Kafka topic";
  }
  config.relay.poison.dead_letter_topic = value;
  return {};
}

Complaint set_log_level(std::string& target, const std::string& value) {
  constexpr std::array levels{"trace", "debug", "info", "warn", "error"};
  if (std::find(levels.begin(), levels.end(), value) == levels.end()) {
    return "must be one of trace, debug, info, warn, error";
  }
  target = value;
  return {};
}

Complaint set_log_format(LogFormat& target, const std::string& value) {
  if (value != "text" && value != "json") {
    return "must be text or json";
  }
  target = value == "json" ? LogFormat::json : LogFormat::text;
  return {};
}

std::string_view name(LogFormat format) {
  switch (format) {
    case LogFormat::text:
      return "text";
    case LogFormat::json:
      return "json";
  }
  return {};
}

kafka::TopicCreation& creation(Config& config) {
  if (!config.kafka.create_topics) {
    config.kafka.create_topics.emplace();
  }
  return *config.kafka.create_topics;
}

constexpr ValueKey value_table[] = {
    {"postgres.url",
     [](Config& c, const std::string& v) {
       c.postgres.url = v;
       return Complaint{};
     },
     [](const Config& c) { return Shown(c.postgres.url); }},
    {"postgres.slot", [](Config& c, const std::string& v) { return set_slot(c.postgres.slot, v); },
     [](const Config& c) { return Shown(c.postgres.slot); }},
    {"postgres.publication",
     [](Config& c, const std::string& v) { return set_name(c.postgres.publication, v); },
     [](const Config& c) { return Shown(c.postgres.publication); }},
    {"postgres.connect_timeout",
     [](Config& c, const std::string& v) {
       return set_duration(c.postgres.connect_timeout, v, 100ms, 10min);
     },
     [](const Config& c) { return Shown(duration_text(c.postgres.connect_timeout)); }},
    {"postgres.read_timeout",
     [](Config& c, const std::string& v) {
       return set_duration(c.postgres.read_timeout, v, 1s, 1h);
     },
     [](const Config& c) { return Shown(duration_text(c.postgres.read_timeout)); }},
    {"outbox.tombstones",
     [](Config& c, const std::string& v) { return set_flag(c.outbox.tombstones, v); },
     [](const Config& c) { return Shown(c.outbox.tombstones ? "true" : "false"); }},
    {"route.topic",
     [](Config& c, const std::string& v) {
       c.route.topic = v;
       return Complaint{};
     },
     [](const Config& c) { return Shown(c.route.topic); }},
    {"route.key",
     [](Config& c, const std::string& v) {
       c.route.key = v;
       return Complaint{};
     },
     [](const Config& c) { return Shown(c.route.key); }},
    {"route.format", [](Config&, const std::string& v) { return only(v, "raw"); },
     [](const Config&) { return Shown("raw"); }},
    {"route.create_topics.partitions",
     [](Config& c, const std::string& v) {
       return set_count(creation(c).partitions, v, 1, std::numeric_limits<int>::max());
     },
     [](const Config& c) {
       const auto& topics = c.kafka.create_topics;
       return topics ? Shown(std::to_string(topics->partitions)) : Shown();
     }},
    {"route.create_topics.replication",
     [](Config& c, const std::string& v) {
       return set_count(creation(c).replication_factor, v, 1,
                        int{std::numeric_limits<std::int16_t>::max()});
     },
     [](const Config& c) {
       const auto& topics = c.kafka.create_topics;
       return topics ? Shown(std::to_string(topics->replication_factor)) : Shown();
     }},
    {"delivery.guarantee",
     [](Config& c, const std::string& v) { return set_guarantee(c.guarantee, v); },
     [](const Config& c) { return Shown(name(c.guarantee)); }},
    {"delivery.transaction_interval",
     [](Config& c, const std::string& v) {
       return set_duration(c.kafka.transactions.interval, v, 1ms, 10s);
     },
     [](const Config& c) { return Shown(duration_text(c.kafka.transactions.interval)); }},
    {"delivery.on_poison", set_on_poison,
     [](const Config& c) { return Shown(name(c.relay.poison.action)); }},
    {"delivery.max_dead_letters",
     [](Config& c, const std::string& v) {
       return set_count(c.relay.poison.max_dead_letters, v, std::size_t{1}, std::size_t{1000000});
     },
     [](const Config& c) { return Shown(std::to_string(c.relay.poison.max_dead_letters)); }},
    {"delivery.dead_letter_topic", set_dead_letter_topic,
     [](const Config& c) {
       const std::string& topic = c.relay.poison.dead_letter_topic;
       return topic.empty() ? Shown() : Shown(topic);
     }},
    {"delivery.drain_timeout",
     [](Config& c, const std::string& v) {
       return set_duration(c.relay.drain_timeout, v, 1ms, 1h);
     },
     [](const Config& c) { return Shown(duration_text(c.relay.drain_timeout)); }},
    {"position", set_position,
     [](const Config& c) {
       const auto& file = c.postgres.position_file;
       if (c.keeps_position_in_kafka()) return Shown("kafka");
       return Shown(file ? "file:" + file->string() : "none");
     }},
    {"limits.in_flight_bytes",
     [](Config& c, const std::string& v) { return set_bytes(c.relay.in_flight_bytes, v); },
     [](const Config& c) { return Shown(std::to_string(c.relay.in_flight_bytes)); }},
    {"limits.in_flight_events",
     [](Config& c, const std::string& v) {
       return set_count(c.relay.in_flight_events, v, std::size_t{1}, std::size_t{4000000});
     },
     [](const Config& c) { return Shown(std::to_string(c.relay.in_flight_events)); }},
    {"log.level", [](Config& c, const std::string& v) { return set_log_level(c.log.level, v); },
     [](const Config& c) { return Shown(c.log.level); }},
    {"log.format", [](Config& c, const std::string& v) { return set_log_format(c.log.format, v); },
     [](const Config& c) { return Shown(name(c.log.format)); }},
};

using Entries = std::map<std::string, std::string>;

constexpr MapKey map_table[] = {
    {"outbox.columns", [](Config& c) -> Entries& { return c.outbox.columns; }},
    {"route.topics", [](Config& c) -> Entries& { return c.route.topics; }},
    {"route.headers", [](Config& c) -> Entries& { return c.route.headers; }},
    {"kafka", [](Config& c) -> Entries& { return c.kafka.properties; }},
};

}  // namespace

std::span<const ValueKey> value_keys() {
  return value_table;
}
std::span<const MapKey> map_keys() {
  return map_table;
}

}  // namespace walpost::config
