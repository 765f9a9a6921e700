#include "transaction_batch.h"

namespace walpost::kafka {

void TransactionBatch::added(relay::Instant now) {
  if (events_++ == 0) oldest_ = now;
}

void TransactionBatch::closed(relay::Instant now) {
  events_ = 0;
  closed_at_ = now;
}

bool TransactionBatch::due(relay::Instant now) const {
  return events_ > 0 && (events_ >= limits_.events || now >= oldest_ + limits_.interval);
}

std::optional<relay::Instant> TransactionBatch::next_due() const {
  if (events_ == 0) return std::nullopt;
  return oldest_ + limits_.interval;
}

}  // namespace walpost::kafka
