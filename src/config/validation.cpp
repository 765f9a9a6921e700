#include "validation.h"

#include <algorithm>
#include <utility>

#include "walpost/kafka/check.h"
#include "walpost/outbox/nearest_name.h"
#include "walpost/outbox/router.h"

namespace walpost::config {
namespace {

class Validation {
 public:
  Validation(const Config& config, const Given& given) : config_(config), given_(given) {}

  std::vector<Problem> run() {
    check_columns();
    check_templates();
    check_topic_creation();
    check_dead_letters();
    check_brokers();
    check_kafka_properties();
    check_position();
    return std::move(problems_);
  }

 private:
  void complain(const std::string& path, std::string what) {
    const auto found = given_.find(path);
    problems_.push_back(
        {path, std::move(what), found == given_.end() ? std::string{} : found->second.where});
  }

  void check_columns() {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < outbox::field_count; ++i) {
      fields.emplace_back(outbox::field_name(static_cast<outbox::Field>(i)));
    }
    for (const auto& [field, column] : config_.outbox.columns) {
      const std::string path = "outbox.columns." + field;
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) {
        complain(path, unknown_field(field, fields));
      } else if (column.empty()) {
        complain(path, "must name a column");
      }
    }
  }

  static std::string unknown_field(const std::string& field,
                                   const std::vector<std::string>& fields) {
    if (const auto meant = outbox::nearest_name(field, fields)) {
      return "unknown field; did you mean " + *meant + "?";
    }
    std::string listed;
    for (const std::string& known : fields) {
      listed += (listed.empty() ? "" : ", ") + known;
    }
    return "unknown field; a column can be mapped to " + listed;
  }

  /// One router for each template, so that each fault is found and is named by its own path.
  void check_templates() {
    check_route("route.topic", [this](auto& route) { route.topic = config_.route.topic; });
    check_route("route.key", [this](auto& route) { route.key = config_.route.key; });
    for (const auto& entry : config_.route.headers) {
      check_route("route.headers." + entry.first,
                  [&](auto& route) { route.headers.insert(entry); });
    }
    for (const auto& entry : config_.route.topics) {
      check_route("route.topics." + entry.first, [&](auto& route) { route.topics.insert(entry); });
    }
  }

  template <typename Change>
  void check_route(const std::string& path, const Change& change) {
    outbox::RouteOptions route;
    change(route);
    try {
      const outbox::Router router(std::move(route));
    } catch (const outbox::TemplateError& error) {
      complain(path, error.what());
    }
  }

  void check_topic_creation() {
    const std::string partitions = "route.create_topics.partitions";
    const std::string replication = "route.create_topics.replication";
    const bool has_partitions = given_.find(partitions) != given_.end();
    const bool has_replication = given_.find(replication) != given_.end();
    if (has_partitions != has_replication) {
      complain(has_partitions ? replication : partitions,
               "missing: route.create_topics needs both partitions and replication");
    }
  }

  void check_dead_letters() {
    const relay::PoisonOptions& poison = config_.relay.poison;
    if (poison.dead_letter_topic.empty() || poison.action == relay::OnPoison::dead_letter) return;
    complain(
        "delivery.dead_letter_topic",
        "only goes with delivery.on_poison: dead_letter; what is parked has to be kept in table "
        "walpost.dead_letter");
  }

  void check_brokers() {
    const auto brokers = config_.kafka.properties.find("bootstrap.servers");
    if (brokers != config_.kafka.properties.end() && brokers->second.empty()) {
      complain("kafka.bootstrap.servers", "must name at least one broker, such as kafka:9092");
    }
  }

  /// A sentence that a property earns by itself gets the property's path; one that only the whole
  /// set earns gets "kafka".
  void check_kafka_properties() {
    std::vector<std::string> left = kafka::property_errors(config_.kafka.properties);
    for (const auto& [name, value] : config_.kafka.properties) {
      if (left.empty()) {
        return;
      }
      for (const std::string& sentence : kafka::property_errors({{name, value}})) {
        const auto found = std::find(left.begin(), left.end(), sentence);
        if (found != left.end()) {
          complain("kafka." + name, sentence);
          left.erase(found);
        }
      }
    }
    for (std::string& sentence : left) {
      complain("kafka", std::move(sentence));
    }
  }

  void check_position() {
    if (config_.guarantee != Guarantee::exactly_once || !config_.postgres.position_file) return;
    complain("position",
             "must be kafka, or left out, with delivery.guarantee: exactly_once: the position is "
             "part of the transactions");
  }

  const Config& config_;
  const Given& given_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> validate(const Config& config, const Given& given) {
  return Validation(config, given).run();
}

}  // namespace walpost::config
