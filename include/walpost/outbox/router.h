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

/// Templates hold literals and {name}; a name is a field (id, aggregate_type, ...), {table} or
/// {schema}, or a column of the row, looked up in this order. "{{" and "}}" are literal braces.
///
/// Where a value is NULL: in the topic or the key the event is poison, in a header template that
/// header is left out.
struct RouteOptions {
  std::string topic = "outbox.event.{aggregate_type}";
  /// Event type -> topic (a literal), looked up before the template above.
  std::map<std::string, std::string> topics{};
  std::string key = "{aggregate_id}";
  std::map<std::string, std::string> headers{};  ///< header name -> template; added to the defaults
  Format format = Format::raw;
};

/// A template that can't be parsed, or that names what no outbox row has.
class TemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Header names of the raw format. A record's headers are, in this order: each member of the row's
/// headers object in document order (strings decoded, null as a null value, anything else as its
/// JSON text), the defaults below, RouteOptions::headers by name. Names may repeat and nothing is
/// dropped: when a row or a template brings a default's name the record carries both, and a
/// consumer that takes the last one, as Kafka's Headers.lastHeader does, sees a template before a
/// default before the row.
///
/// messageId is the row's id; eventType and aggregateType are there when the row has one;
/// occurredAt is created_at in UTC as RFC 3339 writes it (a timestamp without time zone is taken as
/// UTC); walpost-position is "<commit LSN>/<ordinal in the transaction>".
inline constexpr std::string_view message_id_header = "messageId";
inline constexpr std::string_view event_type_header = "eventType";
inline constexpr std::string_view aggregate_type_header = "aggregateType";
inline constexpr std::string_view occurred_at_header = "occurredAt";
inline constexpr std::string_view position_header = "walpost-position";

/// Gives an Event its topic, key, headers and value. Pure, one thread, no allocation per event once
/// its scratch space has grown.
class Router {
 public:
  /// Throws TemplateError, also for a topic that Kafka would not accept as a name.
  explicit Router(RouteOptions options);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// `event` must come from a Mapper whose latest call it was. Throws as verify() does.
  [[nodiscard]] std::variant<Record, Poison> route(const Event& event);

  /// Each part of the record that can be made, for an event that map() or route() found to be
  /// poison. Same conditions as route().
  [[nodiscard]] Remains salvage(const Event& event);

  /// Topics that are known before the first event: the values of `topics`, and `topic` if it is a
  /// literal.
  [[nodiscard]] std::vector<std::string> known_topics() const;

  /// Throws TemplateError when a template names a column that `mapping` lacks, or when `topics`
  /// chooses by event type and the table has none: its events would quietly go elsewhere.
  void verify(const TableMapping& mapping) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace walpost::outbox
