#include "walpost/relay/poison_policy.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace walpost::relay {
namespace {

constexpr std::chrono::hours period{1};

}  // namespace

std::string_view name(OnPoison action) {
  switch (action) {
    case OnPoison::stop:
      return "stop";
    case OnPoison::dead_letter:
      return "dead_letter";
    case OnPoison::park:
      return "park";
  }
  return {};
}

PoisonPolicy::PoisonPolicy(const PoisonOptions& options, DeadLetterStore* store, const Clock& clock)
    : options_(options), store_(store), clock_(clock) {}

PoisonPolicy::Place PoisonPolicy::place_of(const outbox::Position& position) {
  return {position.commit_lsn.value, position.ordinal, position.committed_at.micros};
}

void PoisonPolicy::begin_stream(const StreamStart& start) {
  if (store_ == nullptr) return;
  const KeptLetters letters = store_->recall(start);
  kept_.clear();
  parked_.clear();
  recent_.clear();
  for (const outbox::Position& position : letters.positions) kept_.insert(place_of(position));
  for (const auto& [key, since] : letters.parked_keys) parked_.emplace(key, place_of(since));
  for (const milliseconds age : letters.recent) recent_.push_back(clock_.now() - age);
  std::ranges::sort(recent_);
}

void PoisonPolicy::reach(pgoutput::Lsn commit_lsn) {
  const Place first{commit_lsn.value, 0, std::numeric_limits<std::int64_t>::min()};
  kept_.erase(kept_.begin(), kept_.lower_bound(first));
  condemned_.erase(condemned_.begin(), condemned_.lower_bound(first));
  suspects_.erase(suspects_.begin(), suspects_.lower_bound(first));
}

bool PoisonPolicy::is_kept(const outbox::Position& position) const {
  return kept_.contains(place_of(position));
}

std::optional<std::string> PoisonPolicy::why_condemned(const outbox::Position& position) const {
  const auto found = condemned_.find(place_of(position));
  if (found == condemned_.end()) return std::nullopt;
  return found->second;
}

bool PoisonPolicy::is_suspect(const outbox::Position& position) const {
  return !suspects_.empty() && suspects_.contains(place_of(position));
}

bool PoisonPolicy::is_parked(std::string_view key, const outbox::Position& position) const {
  const auto found = parked_.find(key);
  if (found == parked_.end()) return false;
  const Place& since = found->second;
  return std::tie(position.commit_lsn.value, position.ordinal) >
         std::tie(since.commit_lsn, since.ordinal);
}

bool PoisonPolicy::may_keep_another() {
  const Instant now = clock_.now();
  while (!recent_.empty() && now - recent_.front() >= period) recent_.pop_front();
  return recent_.size() < options_.max_dead_letters;
}

void PoisonPolicy::condemn(const outbox::Position& position, const std::string& why) {
  suspects_.erase(place_of(position));
  condemned_.insert_or_assign(place_of(position), why);
}

void PoisonPolicy::suspect(const outbox::Position& position) {
  suspects_.insert(place_of(position));
}

void PoisonPolicy::acquit(const outbox::Position& position) {
  suspects_.erase(place_of(position));
}

void PoisonPolicy::kept(const outbox::Position& position) {
  condemned_.erase(place_of(position));
  suspects_.erase(place_of(position));
  recent_.push_back(clock_.now());
}

void PoisonPolicy::parked(std::string_view key, const outbox::Position& since) {
  parked_.insert_or_assign(std::string(key), place_of(since));
}

void PoisonPolicy::released(std::string_view key) {
  const auto found = parked_.find(key);
  if (found != parked_.end()) parked_.erase(found);
}

}  // namespace walpost::relay
