#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace walpost::outbox {

/// Room for "9999-12-31T23:59:59.999999Z".
using Rfc3339Buffer = std::array<char, 27>;

/// Writes PostgreSQL's text of a timestamp or timestamptz (DateStyle ISO) as RFC 3339 in UTC, with
/// as many fractional digits as it has; text without an offset is taken as UTC. Nothing for a time
/// that RFC 3339 has no form for (infinity, a year outside 0000 to 9999 in UTC) and for any other
/// text. The result points into `buffer`.
[[nodiscard]] std::optional<std::string_view> to_rfc3339(std::string_view postgres_text,
                                                         Rfc3339Buffer& buffer);

}  // namespace walpost::outbox
