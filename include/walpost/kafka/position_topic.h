#pragma once

#include <functional>
#include <string>

#include "walpost/kafka/options.h"
#include "walpost/relay/position_recall.h"

namespace walpost::kafka {

/// Positions in the topic walpost.positions, as their reader: what preflight compares the slot
/// with. Reads what is readable now; the sink of exactly-once delivery reads again once it has
/// fenced everybody else.
class PositionTopic final : public relay::PositionRecall {
 public:
  /// `interrupted` is asked every fraction of a second while recall() waits.
  PositionTopic(Options options, std::function<bool()> interrupted);

  relay::RecalledPosition recall(const relay::SystemIdentity& server,
                                 const std::string& slot) override;
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::string forgetting(const relay::SystemIdentity& server,
                                       const std::string& slot) const override;

 private:
  Options options_;
  std::function<bool()> interrupted_;
};

}  // namespace walpost::kafka
