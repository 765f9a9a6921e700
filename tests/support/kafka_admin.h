#pragma once

#include <map>
#include <string>

#include "support/deadline.h"

namespace walpost::test {

/// Whether the brokers answer a metadata request within about a second.
[[nodiscard]] bool broker_answers(const std::string& bootstrap);

/// All throw with the broker's reason if it refuses or the deadline passes.
void create_topic(const std::string& bootstrap, const std::string& name, int partitions,
                  const std::map<std::string, std::string>& configs, Deadline deadline);
void delete_topic(const std::string& bootstrap, const std::string& name, Deadline deadline);
/// The topic's own settings are these from here on, and no others. Throws likewise.
void set_topic_configs(const std::string& bootstrap, const std::string& name,
                       const std::map<std::string, std::string>& configs, Deadline deadline);

/// Rights of everybody (no test has users) on one topic; the brokers need an authorizer. Once a
/// topic has any, what isn't allowed is denied. Both throw likewise.
enum class Right { all_allowed, write_denied, all_denied };
void grant(const std::string& bootstrap, const std::string& topic, Right right, Deadline deadline);
void revoke(const std::string& bootstrap, const std::string& topic, Right right, Deadline deadline);

}  // namespace walpost::test
