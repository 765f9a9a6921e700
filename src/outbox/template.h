#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"

namespace walpost::outbox {

/// A parsed template.
///   template = { literal | "{{" | "}}" | "{" name "}" }
/// where a literal holds no braces, and a name is not empty and holds none.
struct Template {
  struct Part {
    enum class Kind { literal, name };
    Kind kind = Kind::literal;
    std::string text;
  };
  std::string setting;  ///< where it was configured, for messages: "route.topic"
  std::vector<Part> parts;
};

/// Throws TemplateError naming the setting and the position, counted in characters from 1.
[[nodiscard]] Template parse_template(std::string setting, std::string_view text);

/// What the template gives for every row alike, or nothing when it names anything.
[[nodiscard]] std::optional<std::string> literal_text(const Template& parsed);

/// A template with its names resolved for one table: pieces of literal text, each followed by a
/// column's value except maybe the last.
struct BoundTemplate {
  struct Part {
    std::string literal;
    std::optional<std::size_t> column;
  };
  std::vector<Part> parts;
};

/// Throws TemplateError when the table lacks what the template names.
[[nodiscard]] BoundTemplate bind(const Template& parsed, const TableMapping& table);

struct Rendered {
  std::optional<std::string_view> text;  ///< nothing when a value is NULL
  std::size_t null_column = 0;           ///< which, then
};

/// Fills the template in. The result points into `columns` where it is just one value, else into
/// `scratch`, which is overwritten.
[[nodiscard]] Rendered render(const BoundTemplate& bound,
                              std::span<const std::optional<std::string_view>> columns,
                              std::string& scratch);

}  // namespace walpost::outbox
