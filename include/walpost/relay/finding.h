#pragma once

#include <string>

namespace walpost::relay {

/// One result of a preflight check, on either side. `run` refuses on a fail, logs a warn; `check`
/// prints them all.
struct Finding {
  enum class Level { pass, warn, fail };
  Level level = Level::pass;
  std::string subject;  ///< what was looked at: "slot walpost", "topic orders"
  std::string what;     ///< what was found
  std::string mend;     ///< the exact SQL, command or setting that mends it; empty for a pass
};

}  // namespace walpost::relay
