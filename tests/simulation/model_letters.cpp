#include "simulation/model_letters.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "walpost/relay/failure.h"

namespace walpost::simulation {

using relay::DeadLetter;

relay::KeptLetters ModelLetters::recall(const relay::StreamStart& start) {
  lose_it_perhaps();
  relay::KeptLetters kept;
  for (const auto& [key, since] : parked_) kept.parked_keys.push_back({key, since});
  for (const auto& [row, letter] : letters_) {
    if (letter.position.commit_lsn >= start.start) kept.positions.push_back(letter.position);
    kept.recent.push_back(std::chrono::duration_cast<milliseconds>(world_.now - letter.since));
  }
  return kept;
}

void ModelLetters::keep(const DeadLetter& letter) {
  lose_it_perhaps();
  add(letter, Row::Letter::dead);
  lose_it_perhaps();
}

void ModelLetters::park(const DeadLetter& letter) {
  lose_it_perhaps();
  parked_.emplace(*letter.key, letter.position);
  add(letter, Row::Letter::parked);
  lose_it_perhaps();
}

bool ModelLetters::keep_waiting(const DeadLetter& letter) {
  lose_it_perhaps();
  if (!parked_.contains(std::string(*letter.key))) return false;
  add(letter, Row::Letter::parked);
  lose_it_perhaps();
  return true;
}

void ModelLetters::lose_it_perhaps() const {
  if (world_.fault(world_.faults.kill)) throw Killed{};
  if (world_.fault(world_.faults.letter_lost))
    throw relay::SessionFailure(relay::FailureKind::transient, relay::Side::postgres,
                                "the letter's connection is lost");
}

void ModelLetters::add(const DeadLetter& letter, Row::Letter how) {
  const RowNumber number = std::stoul(std::string(letter.event_id));
  if (letters_.contains(number)) return;
  if (world_.tracing())
    world_.trace(fmt::format("row {} is {}", number, how == Row::Letter::dead ? "dead" : "parked"));
  ++world_.fault_count;
  letters_.emplace(number, Kept{letter.position, world_.now});
  world_.rows[number].letter = how;
}

void ModelLetters::step() {
  if (parked_.empty()) return;
  if (!world_.calm && !world_.fault(world_.faults.retry)) return;
  const auto key =
      std::next(parked_.begin(), static_cast<std::ptrdiff_t>(world_.below(parked_.size())));
  retry(key->first);
}

void ModelLetters::retry(std::string key) {
  const auto first = std::find_if(letters_.begin(), letters_.end(), [&](const auto& entry) {
    const Row& row = world_.rows[entry.first];
    return row.letter == Row::Letter::parked && std::to_string(row.key) == key;
  });
  if (first == letters_.end()) {
    if (world_.tracing()) world_.trace("key " + key + " is released");
    parked_.erase(key);
    return;
  }
  if (world_.tracing()) world_.trace(fmt::format("row {} is retried", first->first));
  world_.append_letter(first->first);
}

}  // namespace walpost::simulation
