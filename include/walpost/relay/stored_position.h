#pragma once

#include <optional>
#include <string>

#include "pgoutput/lsn.h"

namespace walpost::relay {

/// What IDENTIFY_SYSTEM tells: whose WAL an LSN belongs to.
struct SystemIdentity {
  std::string identifier;
  std::string timeline;
  friend bool operator==(const SystemIdentity&, const SystemIdentity&) = default;
};

/// How far the stream of a slot was published, kept where it outlives the process.
struct StoredPosition {
  SystemIdentity identity;
  std::string slot;
  pgoutput::Lsn confirmed;
};

}  // namespace walpost::relay
