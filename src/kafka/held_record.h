#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "walpost/outbox/record.h"
#include "walpost/relay/token.h"

namespace walpost::kafka {

/// A copy of a record that may not be handed to librdkafka yet. One allocation, since as many may
/// be held as may be in flight: as separate strings they took twice as much memory.
class HeldRecord {
 public:
  HeldRecord(const outbox::Record& record, relay::Token its_token, std::int32_t its_partition);

  /// The record; views are valid as long as this object, its headers as long as `headers`, whose
  /// former content goes.
  [[nodiscard]] outbox::Record view(std::vector<outbox::Header>& headers) const;

  relay::Token token;
  std::int32_t partition;

 private:
  outbox::Position position_;
  std::uint32_t header_count_;
  std::unique_ptr<char[]> fields_;  ///< topic, key, value, then name and value of each header
};

}  // namespace walpost::kafka
