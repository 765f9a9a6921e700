#pragma once

#include <map>
#include <string>

#include "support/deadline.h"

namespace walpost::test {

/// Whether the brokers answer a metadata request within about a second.
[[nodiscard]] bool broker_answers(const std::string& bootstrap);

/// Both throw with the broker's reason if it refuses or the deadline passes.
void create_topic(const std::string& bootstrap, const std::string& name, int partitions,
                  const std::map<std::string, std::string>& configs, Deadline deadline);
void delete_topic(const std::string& bootstrap, const std::string& name, Deadline deadline);

}  // namespace walpost::test
