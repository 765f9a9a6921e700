#include <yaml-cpp/yaml.h>

#include <set>

#include "schema.h"
#include "setting.h"

namespace walpost::config {
namespace {

/// Walks one YAML tree along the schema.
class LayerReader {
 public:
  LayerReader(std::string source, bool has_lines, Layers& layers)
      : source_(std::move(source)), has_lines_(has_lines), layers_(layers) {}

  void read(const std::string& path, const YAML::Node& node) {
    switch (kind_of(path)) {
      case PathKind::section:
      case PathKind::map:
        read_children(path, node);
        return;
      case PathKind::value:
      case PathKind::map_entry:
        read_value(path, node);
        return;
      case PathKind::unknown:
        complain(path, unknown_key(path), node.Mark());
        return;
    }
  }

  void complain(const std::string& path, const std::string& what, const YAML::Mark& mark) {
    layers_.problems.push_back({path, what, where(mark)});
  }

 private:
  void read_children(const std::string& path, const YAML::Node& node) {
    if (node.IsNull()) {
      return;
    }
    if (!node.IsMap()) {
      complain(path, "must be a map of settings", node.Mark());
      return;
    }
    for (const auto& child : node) {
      if (!child.first.IsScalar() || child.first.Scalar().empty()) {
        complain(path, "a key must be plain text, and not empty", child.first.Mark());
        continue;
      }
      const std::string child_path =
          path.empty() ? child.first.Scalar() : path + "." + child.first.Scalar();
      if (!seen_.insert(child_path).second) {
        complain(child_path, "given twice", child.first.Mark());
      } else if (kind_of(child_path) == PathKind::unknown) {
        complain(child_path, unknown_key(child_path), child.first.Mark());
      } else {
        read(child_path, child.second);
      }
    }
  }

  void read_value(const std::string& path, const YAML::Node& node) {
    if (node.IsNull()) {
      layers_.settings.push_back({path, std::nullopt, where(node.Mark())});
    } else if (node.IsScalar()) {
      layers_.settings.push_back({path, node.Scalar(), where(node.Mark())});
    } else {
      complain(path, not_a_value(path, node), node.Mark());
    }
  }

  static std::string not_a_value(const std::string& path, const YAML::Node& node) {
    if (path.starts_with("kafka.")) {
      return "must be a single value; write a property's whole name as one key, such as "
             "kafka: {ssl.ca.location: /path}";
    }
    if (path.starts_with("route.") && node.IsMap()) {
      return "must be a single value, not a map; put quotes around a template, such as "
             "\"{aggregate_id}\"";
    }
    return "must be a single value";
  }

  [[nodiscard]] std::string where(const YAML::Mark& mark) const {
    if (!has_lines_ || mark.is_null()) {
      return source_;
    }
    return source_ + ", line " + std::to_string(mark.line + 1);
  }

  std::string source_;
  bool has_lines_;
  Layers& layers_;
  std::set<std::string> seen_;
};

std::optional<std::string> literal_text(const std::string& value) {
  if (value.empty() || value == "~" || value == "null") {
    return std::nullopt;
  }
  if (value.front() != '"' && value.front() != '\'') {
    return value;
  }
  try {
    const YAML::Node node = YAML::Load(value);
    return node.IsScalar() ? node.Scalar() : value;
  } catch (const YAML::Exception&) {
    return value;  // it only happens to start with a quote
  }
}

}  // namespace

void read_document(const std::string& text, const std::string& source, Layers& layers) {
  LayerReader reader(source, true, layers);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      reader.complain("", "must be a single YAML document", documents[1].Mark());
    } else if (!documents.empty()) {
      reader.read("", documents.front());
    }
  } catch (const YAML::Exception& failure) {
    reader.complain("", "not valid YAML: " + failure.msg, failure.mark);
  }
}

void read_assignment(const std::string& assignment, Layers& layers) {
  LayerReader reader("--set", false, layers);
  const std::size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  if (equals == std::string::npos || path.empty()) {
    reader.complain("", "must look like path=value, such as postgres.slot=walpost", {});
    return;
  }
  const std::string value = assignment.substr(equals + 1);
  const PathKind kind = kind_of(path);
  if (kind == PathKind::value || kind == PathKind::map_entry) {
    layers.settings.push_back({path, literal_text(value), "--set"});
    return;
  }
  try {
    reader.read(path, YAML::Load(value));
  } catch (const YAML::Exception& failure) {
    reader.complain(path, "not a valid YAML map: " + failure.msg, {});
  }
}

}  // namespace walpost::config
