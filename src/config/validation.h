#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "setting.h"
#include "walpost/config/config.h"

namespace walpost::config {

/// The settings that were given, by path, each of the layer that wins.
using Given = std::map<std::string, Setting, std::less<>>;

/// What is wrong with values that are fine each by itself: templates, field names, librdkafka
/// properties, settings that need one another.
[[nodiscard]] std::vector<Problem> validate(const Config& config, const Given& given);

}  // namespace walpost::config
