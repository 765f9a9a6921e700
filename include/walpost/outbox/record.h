#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "walpost/outbox/event.h"

namespace walpost::outbox {

struct Header {
  std::string_view name;
  std::optional<std::string_view> value;  ///< nothing: a header whose value is null
};

/// One Kafka record, ready to be produced. Views are valid until the router's next call.
struct Record {
  std::string_view topic;
  std::string_view key;                   ///< never absent; may be empty
  std::optional<std::string_view> value;  ///< nothing: a tombstone
  std::span<const Header> headers;
  Position position{};  ///< of its event in the stream
};

/// What could be made of an event that can't be published. Views as in Record.
struct Remains {
  std::optional<std::string_view> topic;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::span<const Header> headers;
  std::string_view row_headers;  ///< the row's headers as they stand, where they can't be read
};

}  // namespace walpost::outbox
