#include "walpost/outbox/router.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include "headers_object.h"
#include "rfc3339.h"
#include "template.h"
#include "topic_name.h"
#include "walpost/outbox/mapper.h"

namespace walpost::outbox {

namespace {

/// Room for "FFFFFFFF/FFFFFFFF/4294967295".
using PositionBuffer = std::array<char, 28>;

struct NamedTemplate {
  std::string name;
  Template value;
};

/// The templates resolved for one table.
struct Binding {
  std::uint64_t generation = 0;  ///< of the TableMapping; 0 is none's
  BoundTemplate topic;
  BoundTemplate key;
  std::vector<BoundTemplate> headers;  ///< parallel to State::headers
};

char* write_hex(char* out, std::uint32_t value) {
  int shift = 28;
  while (shift > 0 && value >> shift == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *out++ = "0123456789ABCDEF"[value >> shift & 0xF];
  return out;
}

std::string_view write_position(const Position& position, PositionBuffer& buffer) {
  char* out = write_hex(buffer.data(), static_cast<std::uint32_t>(position.commit_lsn.value >> 32));
  *out++ = '/';
  out = write_hex(out, static_cast<std::uint32_t>(position.commit_lsn.value));
  *out++ = '/';
  out = std::to_chars(out, buffer.data() + buffer.size(), position.ordinal).ptr;
  return {buffer.data(), static_cast<std::size_t>(out - buffer.data())};
}

const std::string& column_name(const Event& event, std::size_t column) {
  return event.table->shape().columns[column].name;
}

std::optional<std::string_view> value_of(const Event& event, Field field) {
  const std::optional<std::size_t> position = event.table->position(field);
  return position ? event.columns[*position] : std::nullopt;
}

Poison poison(Poison::Reason reason, const Event& event, std::string what) {
  return {reason, std::move(what), std::string(event.id), event.table->qualified_name()};
}

void check_topic(const std::string& setting, std::string_view topic) {
  if (is_topic_name(topic)) return;
  throw TemplateError(setting + ": \"" + std::string(topic) +
                      "\" is not a legal Kafka topic name: " + std::string(topic_name_rule));
}

void check_topic_template(const Template& topic) {
  if (const auto literal = literal_text(topic)) return check_topic(topic.setting, *literal);
  for (const Template::Part& part : topic.parts) {
    if (part.kind == Template::Part::Kind::name || is_topic_name_part(part.text)) continue;
    throw TemplateError(topic.setting + ": \"" + part.text +
                        "\" can't be part of a Kafka topic name: " + std::string(topic_name_rule));
  }
}

}  // namespace

struct Router::State {
  std::map<std::string, std::string, std::less<>> topics;
  Template topic;
  Template key;
  std::vector<NamedTemplate> headers;
  Format format = Format::raw;

  /// By TableMapping::index. Tables that share the last index take turns in one place.
  std::vector<Binding> bindings;

  // Scratch space, reused by every route().
  Record record;
  std::string topic_text;
  std::string key_text;
  std::vector<std::string> header_texts;  ///< parallel to `headers`
  std::vector<Header> record_headers;
  std::string row_header_text;
  Rfc3339Buffer occurred_at;
  PositionBuffer position;

  explicit State(RouteOptions options);
  [[nodiscard]] Binding bound_to(const TableMapping& table) const;
  const Binding& binding(const TableMapping& table);

  // Each fills in its part of `record`, or says why the event is poison.
  std::optional<Poison> choose_topic(const Event& event, const BoundTemplate& bound);
  std::optional<Poison> choose_key(const Event& event, const BoundTemplate& bound);
  std::optional<Poison> write_headers(const Event& event, const Binding& bound);
  std::optional<Poison> add_row_headers(const Event& event);
  std::optional<Poison> add_default_headers(const Event& event);
  void add_templated_headers(const Event& event, const Binding& bound);
  void add_header(std::string_view name, std::optional<std::string_view> value);
};

Router::State::State(RouteOptions options)
    : topics(options.topics.begin(), options.topics.end()),
      topic(parse_template("route.topic", options.topic)),
      key(parse_template("route.key", options.key)),
      format(options.format),
      header_texts(options.headers.size()) {
  check_topic_template(topic);
  for (const auto& [type, name] : topics) check_topic("route.topics." + type, name);
  for (const auto& [name, value] : options.headers) {
    if (name.empty()) throw TemplateError("route.headers: a header must have a name");
    headers.push_back({name, parse_template("route.headers." + name, value)});
  }
}

Binding Router::State::bound_to(const TableMapping& table) const {
  if (!topics.empty() && !table.position(Field::event_type)) {
    throw TemplateError("route.topics chooses topics by event type, but table " +
                        table.qualified_name() +
                        " has no column for event_type: set outbox.columns.event_type, or publish "
                        "the table through a publication and slot of its own");
  }
  Binding bound{table.generation(), bind(topic, table), bind(key, table), {}};
  for (const NamedTemplate& header : headers) bound.headers.push_back(bind(header.value, table));
  return bound;
}

const Binding& Router::State::binding(const TableMapping& table) {
  if (bindings.size() <= table.index()) bindings.resize(std::size_t{table.index()} + 1);
  Binding& bound = bindings[table.index()];
  if (bound.generation != table.generation()) bound = bound_to(table);
  return bound;
}

std::optional<Poison> Router::State::choose_topic(const Event& event, const BoundTemplate& bound) {
  if (!topics.empty()) {
    const auto type = value_of(event, Field::event_type);
    const auto listed = type ? topics.find(*type) : topics.end();
    if (listed != topics.end()) {
      record.topic = listed->second;
      return std::nullopt;
    }
  }
  const Rendered topic_name = render(bound, event.columns, topic_text);
  if (!topic_name.text) {
    return poison(Poison::Reason::no_topic, event,
                  "column " + column_name(event, topic_name.null_column) +
                      ", which route.topic uses, is NULL");
  }
  if (!is_topic_name(*topic_name.text)) {
    return poison(Poison::Reason::no_topic, event,
                  "what route.topic gives for this row of " + event.table->qualified_name() +
                      " is not a legal Kafka topic name: " + std::string(topic_name_rule));
  }
  record.topic = *topic_name.text;
  return std::nullopt;
}

std::optional<Poison> Router::State::choose_key(const Event& event, const BoundTemplate& bound) {
  const Rendered rendered = render(bound, event.columns, key_text);
  if (!rendered.text) {
    return poison(
        Poison::Reason::no_key, event,
        "column " + column_name(event, rendered.null_column) + ", which route.key uses, is NULL");
  }
  record.key = *rendered.text;
  return std::nullopt;
}

std::optional<Poison> Router::State::write_headers(const Event& event, const Binding& bound) {
  record_headers.clear();
  if (auto refused = add_row_headers(event)) return refused;
  if (auto refused = add_default_headers(event)) return refused;
  add_templated_headers(event, bound);
  record.headers = record_headers;
  return std::nullopt;
}

std::optional<Poison> Router::State::add_row_headers(const Event& event) {
  if (event.headers.empty()) return std::nullopt;
  const auto error = read_headers(event.headers, row_header_text, record_headers);
  if (!error) return std::nullopt;
  return poison(Poison::Reason::malformed_headers, event,
                "column " + column_name(event, *event.table->position(Field::headers)) +
                    ", the headers, can't be read: " + std::string(error->what) + " at byte " +
                    std::to_string(error->offset));
}

std::optional<Poison> Router::State::add_default_headers(const Event& event) {
  std::optional<Poison> refused;
  if (const auto id = value_of(event, Field::id)) add_header(message_id_header, id);
  if (const auto type = value_of(event, Field::event_type)) add_header(event_type_header, type);
  if (const auto aggregate = value_of(event, Field::aggregate_type)) {
    add_header(aggregate_type_header, aggregate);
  }
  if (event.created_at) {
    const auto time = to_rfc3339(*event.created_at, occurred_at);
    if (time) {
      add_header(occurred_at_header, time);
    } else {
      refused =
          poison(Poison::Reason::malformed_time, event,
                 "column " + column_name(event, *event.table->position(Field::created_at)) +
                     ", the created_at, holds a time that RFC 3339 can't express: infinity, or "
                     "a year outside 0000 to 9999");
    }
  }
  add_header(position_header, write_position(event.position, position));
  return refused;
}

void Router::State::add_templated_headers(const Event& event, const Binding& bound) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Rendered rendered = render(bound.headers[i], event.columns, header_texts[i]);
    if (rendered.text) add_header(headers[i].name, rendered.text);
  }
}

void Router::State::add_header(std::string_view name, std::optional<std::string_view> value) {
  record_headers.push_back({name, value});
}

Router::Router(RouteOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Router::~Router() = default;

std::variant<Record, Poison> Router::route(const Event& event) {
  State& state = *state_;
  const Binding& bound = state.binding(*event.table);
  state.record.position = event.position;
  if (auto refused = state.choose_topic(event, bound.topic)) return *std::move(refused);
  if (auto refused = state.choose_key(event, bound.key)) return *std::move(refused);
  switch (state.format) {
    case Format::raw:
      state.record.value = event.payload;
      if (auto refused = state.write_headers(event, bound)) return *std::move(refused);
      break;
  }
  return state.record;
}

Remains Router::salvage(const Event& event) {
  State& state = *state_;
  const Binding& bound = state.binding(*event.table);
  Remains remains;
  if (!state.choose_topic(event, bound.topic)) remains.topic = state.record.topic;
  if (!state.choose_key(event, bound.key)) remains.key = state.record.key;
  remains.value = event.payload;
  state.record_headers.clear();
  if (state.add_row_headers(event)) {
    state.record_headers.clear();
    remains.row_headers = event.headers;
  }
  static_cast<void>(state.add_default_headers(event));
  state.add_templated_headers(event, bound);
  remains.headers = state.record_headers;
  return remains;
}

std::vector<std::string> Router::known_topics() const {
  std::vector<std::string> known;
  for (const auto& [type, name] : state_->topics) known.push_back(name);
  if (auto literal = literal_text(state_->topic)) known.push_back(*std::move(literal));
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  return known;
}

void Router::verify(const TableMapping& mapping) const {
  static_cast<void>(state_->bound_to(mapping));
}

}  // namespace walpost::outbox
