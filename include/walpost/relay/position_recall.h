#pragma once

#include <optional>
#include <string>

#include "walpost/relay/stored_position.h"

namespace walpost::relay {

/// What a store of positions knew at the moment it was asked.
struct RecalledPosition {
  std::optional<StoredPosition> position;  ///< nothing: none is kept of this slot
  bool complete = true;                    ///< false: a newer one may exist that can't be read yet
};

/// Positions kept outside the server, under the name of the server's system. One thread.
class PositionRecall {
 public:
  virtual ~PositionRecall() = default;

  /// What is kept of a slot. Blocks for some seconds at most. Throws SessionFailure: transient
  /// where the store can't be reached, interrupted, refused where it can't be used.
  virtual RecalledPosition recall(const SystemIdentity& server, const std::string& slot) = 0;

  /// Where positions are kept, for messages: "topic walpost.positions".
  [[nodiscard]] virtual std::string place() const = 0;
  /// What an operator does to have the position of a slot forgotten: "run ...".
  [[nodiscard]] virtual std::string forgetting(const SystemIdentity& server,
                                               const std::string& slot) const = 0;
};

}  // namespace walpost::relay
