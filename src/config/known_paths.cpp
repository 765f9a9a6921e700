#include <algorithm>
#include <vector>

#include "schema.h"
#include "walpost/outbox/nearest_name.h"

namespace walpost::config {
namespace {

bool is_under(std::string_view path, std::string_view parent) {
  return path.size() > parent.size() + 1 && path.starts_with(parent) && path[parent.size()] == '.';
}

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string_view leaf_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

/// Every path of the schema, sections included.
std::vector<std::string> known_paths() {
  std::vector<std::string> paths;
  const auto add = [&](std::string_view path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.emplace_back(path);
    }
  };
  const auto add_with_parents = [&](std::string_view path) {
    for (std::string_view part = path; !part.empty(); part = parent_of(part)) {
      add(part);
    }
  };
  for (const ValueKey& key : value_keys()) {
    add_with_parents(key.path);
  }
  for (const MapKey& key : map_keys()) {
    add_with_parents(key.path);
  }
  return paths;
}

std::vector<std::string> names_beside(std::string_view path,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& candidate : known) {
    if (parent_of(candidate) == parent_of(path)) {
      names.emplace_back(leaf_of(candidate));
    }
  }
  return names;
}

std::optional<std::string> meant_path(std::string_view path,
                                      const std::vector<std::string>& known) {
  // The right name in the wrong section is a likelier slip than a wrong name.
  const auto moved = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
    return candidate.find('.') != std::string::npos && leaf_of(candidate) == leaf_of(path);
  });
  if (moved != known.end()) {
    return *moved;
  }
  const std::vector<std::string> beside = names_beside(path, known);
  if (beside.empty()) {
    return outbox::nearest_name(path, known);
  }
  const auto leaf = outbox::nearest_name(leaf_of(path), beside);
  const std::string_view parent = parent_of(path);
  return leaf && !parent.empty() ? std::string(parent) + "." + *leaf : leaf;
}

}  // namespace

const ValueKey* find_value_key(std::string_view path) {
  const auto keys = value_keys();
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const ValueKey& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

const MapKey* find_map_of_entry(std::string_view path) {
  const auto keys = map_keys();
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const MapKey& key) { return is_under(path, key.path); });
  return found == keys.end() ? nullptr : &*found;
}

PathKind kind_of(std::string_view path) {
  const auto values = value_keys();
  const auto maps = map_keys();
  if (find_value_key(path) != nullptr) {
    return PathKind::value;
  }
  if (std::any_of(maps.begin(), maps.end(), [&](const MapKey& key) { return key.path == path; })) {
    return PathKind::map;
  }
  if (find_map_of_entry(path) != nullptr) {
    return PathKind::map_entry;
  }
  const auto below = [&](const auto& key) { return path.empty() || is_under(key.path, path); };
  const bool section = std::any_of(values.begin(), values.end(), below) ||
                       std::any_of(maps.begin(), maps.end(), below);
  return section ? PathKind::section : PathKind::unknown;
}

std::string unknown_key(std::string_view path) {
  const std::vector<std::string> known = known_paths();
  if (const auto meant = meant_path(path, known)) {
    return "unknown key; did you mean " + *meant + "?";
  }
  std::string listed;
  for (const std::string& name : names_beside(path, known)) {
    listed += (listed.empty() ? "; known here: " : ", ") + name;
  }
  return "unknown key" + listed;
}

}  // namespace walpost::config
