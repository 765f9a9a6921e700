#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walpost/config/load.h"

namespace walpost::config {

/// One value as a layer gives it, before `${...}` is expanded. The path is known to the schema.
struct Setting {
  std::string path;
  std::optional<std::string> text;  ///< nothing (YAML null): back to the default
  std::string where;                ///< as in Problem
  bool verbatim = false;            ///< `$` means nothing in it
};

/// What one or more layers say, in rising precedence, and what is wrong with their form.
struct Layers {
  std::vector<Setting> settings;
  std::vector<Problem> problems;
};

/// Appends what the YAML document in `text` says; `source` is the file's name.
void read_document(const std::string& text, const std::string& source, Layers& layers);

/// Appends one `path=value`. A setting with one value takes it literally (in YAML quotes too), so
/// that a template needs none; a whole section or map takes a YAML flow map.
void read_assignment(const std::string& assignment, Layers& layers);

}  // namespace walpost::config
