#include "letter_retry.h"

#include <iostream>
#include <set>

#include "walpost/relay/failure.h"

namespace walpost::cli {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::walpost, what, mend);
}

}  // namespace

void LetterRetry::one(std::int64_t id) {
  const auto letter = queue_.find(id);
  const std::string name = "dead letter " + std::to_string(id);
  if (!letter) refuse(name + " does not exist for this slot", "walpost dlq list");
  if (letter->state != "dead" && letter->state != "parked") {
    refuse(name + " is " + letter->state + " already", "walpost dlq list");
  }
  if (letter->state == "dead") {
    static_cast<void>(publish({*letter}));
    return;
  }
  const auto first = queue_.next_of(*letter->key);
  if (!first.empty() && first.front().id != id) {
    const std::string before = std::to_string(first.front().id);
    refuse(name + " waits behind number " + before,
           "walpost dlq retry " + before +
               " publishes it and what waits behind it; walpost dlq "
               "discard " +
               before + " gives it up");
  }
  key(*letter->key);
}

void LetterRetry::key(const std::string& key) {
  std::size_t published = 0;
  // The running relay may add to them until the key is released.
  do {
    while (true) {
      const auto letters = queue_.next_of(key);
      if (letters.empty()) break;
      if (!publish(letters)) return;
      published += letters.size();
    }
  } while (!queue_.release(key));
  if (published == 0) std::cout << "no letter of the key is left; it is released\n";
}

void LetterRetry::all() {
  std::set<std::string> keys;
  for (const postgres::KeptLetter& letter : queue_.list(false)) {
    if (!letter.key) {
      one(letter.id);
    } else if (keys.insert(*letter.key).second) {
      key(*letter.key);
    }
  }
}

bool LetterRetry::publish(const std::vector<postgres::KeptLetter>& letters) {
  const auto outcome = publisher_.publish(letters);
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < outcome.published; ++i) ids.push_back(letters[i].id);
  queue_.published(ids);
  if (!ids.empty()) {
    std::cout << "published " << ids.size()
              << (ids.size() == 1 ? " letter, number " : " letters, numbers ") << ids.front();
    if (ids.size() > 1) std::cout << " to " << ids.back();
    std::cout << std::endl;
  }
  if (!outcome.refusal) return true;
  const std::int64_t failed = letters[outcome.published].id;
  ++failures_;
  queue_.failed_again(failed, *outcome.refusal);
  std::cout << "not published: number " << failed << ": " << *outcome.refusal << std::endl;
  return false;
}

}  // namespace walpost::cli
