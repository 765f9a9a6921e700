#pragma once

#include "walpost/relay/failure.h"
#include "walpost/relay/relay.h"

namespace walpost::cli {

/// What the process tells whoever started it. Stable: scripts and supervisors depend on it.
enum class ExitCode : int {
  done = 0,      ///< stopped cleanly, or did what was asked
  failed = 1,    ///< an unexpected error, or `check` found problems
  usage = 2,     ///< the command line or the configuration is wrong
  refused = 3,   ///< going on could lose events: an operator is needed
  poisoned = 4,  ///< stopped at an event that can't be published
};

[[nodiscard]] ExitCode exit_code(relay::FailureKind kind);
[[nodiscard]] ExitCode exit_code(relay::Outcome::End end);

}  // namespace walpost::cli
