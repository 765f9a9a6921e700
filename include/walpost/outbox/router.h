#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "walpost/outbox/event.h"
#include "walpost/outbox/record.h"

namespace walpost::outbox {

enum class Format { raw };

/// Templates hold literals and {name}; a name is a field (id, aggregate_type, ...), a column of the
/// row, or {table} / {schema}. "{{" and "}}" are literal braces.
struct RouteOptions {
  std::string topic = "outbox.event.{aggregate_type}";
  std::map<std::string, std::string> topics;  ///< event_type -> topic (a literal); before the template
  std::string key = "{aggregate_id}";
  std::map<std::string, std::string> headers;  ///< header name -> template; added to the defaults
  Format format = Format::raw;
};

/// A template that can't be parsed, or that names what no outbox row has.
class TemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Header names of the raw format.
inline constexpr std::string_view message_id_header = "messageId";
inline constexpr std::string_view event_type_header = "eventType";
inline constexpr std::string_view aggregate_type_header = "aggregateType";
inline constexpr std::string_view occurred_at_header = "occurredAt";
inline constexpr std::string_view position_header = "walpost-position";

/// Gives an Event its topic, key, headers and value. Pure, one thread, no allocation per event once
/// its scratch space has grown.
class Router {
 public:
  /// Throws TemplateError.
  explicit Router(RouteOptions options);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// Throws TemplateError when the event's table lacks a column that a template names.
  [[nodiscard]] std::variant<Record, Poison> route(const Event& event);

  /// Topics that are known before the first event: the values of `topics`, and `topic` if it is a
  /// literal.
  [[nodiscard]] std::vector<std::string> known_topics() const;

  /// Throws TemplateError when a template names a column that `mapping` lacks.
  void verify(const TableMapping& mapping) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace walpost::outbox
