#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walpost/outbox/record.h"

namespace walpost::outbox {

/// Why text is not a JSON object of headers. Holds nothing of the text.
struct HeadersError {
  std::size_t offset = 0;  ///< in bytes
  std::string_view what;   ///< a string literal
};

/// Arrays and objects inside one another, the outermost object included.
inline constexpr int deepest_headers = 512;

/// Appends the members of a JSON object (RFC 8259, strictly; UTF-8) to `headers`, in document order
/// and with repeated names kept. A string becomes its decoded text, null a null value, everything
/// else its JSON text as it stands. On an error `headers` may hold some members and must not be
/// used.
///
/// The members point into `json` and `scratch`; `scratch` is overwritten, and grows only when
/// `json` is longer than any before. Stateless otherwise; runs once per row, hence no document
/// tree.
[[nodiscard]] std::optional<HeadersError> read_headers(std::string_view json, std::string& scratch,
                                                       std::vector<Header>& headers);

}  // namespace walpost::outbox
