#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "walpost/config/config.h"

namespace walpost::config {

/// A setting with one value.
struct ValueKey {
  std::string_view path;
  /// Stores the value, or says what it would have to be ("must be true or false").
  std::optional<std::string> (*set)(Config& config, const std::string& value);
  /// The effective value in the form set() takes, or nothing while there is none.
  std::optional<std::string> (*show)(const Config& config);
};

/// A setting whose entries have names of the user's choice.
struct MapKey {
  std::string_view path;
  std::map<std::string, std::string>& (*entries)(Config& config);
};

/// Every setting there is, in the order of the documentation.
[[nodiscard]] std::span<const ValueKey> value_keys();
[[nodiscard]] std::span<const MapKey> map_keys();

/// What a dotted path stands for.
enum class PathKind { section, value, map, map_entry, unknown };
[[nodiscard]] PathKind kind_of(std::string_view path);

[[nodiscard]] const ValueKey* find_value_key(std::string_view path);
/// The map that `path` is an entry of: everything after the map's own path is the entry's name,
/// dots and all.
[[nodiscard]] const MapKey* find_map_of_entry(std::string_view path);

/// "unknown key; did you mean route.topic?", or the names known beside it where none is near.
[[nodiscard]] std::string unknown_key(std::string_view path);

}  // namespace walpost::config
