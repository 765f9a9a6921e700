#pragma once

#include <string>
#include <string_view>

namespace walpost::outbox {

/// Replaces `bytes` by what PostgreSQL's hex form of a bytea ("\x" and two digits a byte) stands
/// for. False, with `bytes` unspecified, when `text` is not of that form. Keeps the capacity of
/// `bytes`.
[[nodiscard]] bool decode_bytea(std::string_view text, std::string& bytes);

}  // namespace walpost::outbox
