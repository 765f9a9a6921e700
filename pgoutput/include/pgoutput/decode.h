#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "pgoutput/messages.h"

namespace pgoutput {

/// Why bytes are not a message. Nothing of the message may be used.
struct DecodeError {
  std::size_t offset = 0;  ///< from the start of the bytes given, where reading failed
  std::string_view what;   ///< a string literal; never contains the bytes themselves
};

/// What the layout depends on besides the bytes. The defaults are right for proto_version 1 and for
/// any later version with streaming off.
struct StreamContext {
  bool in_stream = false;       ///< between StreamStart and StreamStop: messages carry an xid
  bool parallel_abort = false;  ///< the option streaming 'parallel': StreamAbort carries its LSN
};

using Decoded = std::variant<Message, DecodeError>;

/// Decodes one pgoutput message (the payload of an XLogData frame). Total: every input gives a
/// message or a DecodeError; bytes left over are an error. Keeps no state, logs nothing, allocates
/// only for the columns of a Relation and the list of a Truncate. Thread-safe.
[[nodiscard]] Decoded decode(std::string_view payload, StreamContext context = {});

}  // namespace pgoutput
