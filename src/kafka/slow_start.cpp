#include "slow_start.h"

#include <cassert>
#include <utility>

namespace walpost::kafka {

Lane SlowStart::add(std::size_t partitions) {
  const Lane first{lanes_.size()};
  lanes_.resize(lanes_.size() + partitions);
  return first;
}

bool SlowStart::may_send(Lane lane, relay::Instant now) {
  State& state = at(lane);
  // Also behind a backlog that is being released: nothing may overtake it.
  if (!state.backlog.empty()) return false;
  if (state.phase == Phase::proven && state.unacknowledged == 0 &&
      now - state.last_success > idle_limit) {
    state.phase = Phase::unproven;
  }
  return state.phase != Phase::probing;
}

void SlowStart::hold(Lane lane, HeldRecord record) {
  at(lane).backlog.push_back(std::move(record));
  ++held_;
}

void SlowStart::sent(Lane lane) {
  State& state = at(lane);
  assert(state.phase != Phase::probing);
  ++state.unacknowledged;
  if (state.phase == Phase::unproven) state.phase = Phase::probing;
}

void SlowStart::delivered(Lane lane, relay::Instant now) {
  State& state = at(lane);
  assert(state.unacknowledged > 0);
  --state.unacknowledged;
  state.last_success = now;
  if (state.phase == Phase::proven) return;
  state.phase = Phase::proven;
  if (!state.backlog.empty()) open_.push_back(lane);
}

void SlowStart::failed(Lane lane) {
  assert(at(lane).unacknowledged > 0);
  --at(lane).unacknowledged;
}

SlowStart::Released SlowStart::released() const {
  assert(has_released());
  return {open_.front(), at(open_.front()).backlog.front()};
}

void SlowStart::pop() {
  assert(has_released());
  State& state = at(open_.front());
  state.backlog.pop_front();
  --held_;
  if (state.backlog.empty()) open_.pop_front();
}

}  // namespace walpost::kafka
