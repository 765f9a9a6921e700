#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "walpost/kafka/options.h"
#include "walpost/relay/position_recall.h"

namespace walpost::kafka {

/// Positions in the topic walpost.positions, as their reader: what preflight compares the slot
/// with.
class PositionTopic final : public relay::PositionRecall {
 public:
  enum class Patience {
    /// Reads what can be read now: the sink of exactly-once delivery reads again once it has fenced
    /// everybody else, whose open transaction could be what is in the way.
    none,
    transactions,  ///< waits some seconds for open transactions to end
  };
  /// `interrupted` is asked every fraction of a second while recall() waits.
  PositionTopic(Options options, Patience patience, std::function<bool()> interrupted);

  relay::RecalledPosition recall(const relay::SystemIdentity& server,
                                 const std::string& slot) override;
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::string forgetting(const relay::SystemIdentity& server,
                                       const std::string& slot) const override;

 private:
  relay::RecalledPosition read(const relay::SystemIdentity& server, const std::string& slot,
                               std::chrono::steady_clock::time_point until) const;

  Options options_;
  Patience patience_;
  std::function<bool()> interrupted_;
};

}  // namespace walpost::kafka
