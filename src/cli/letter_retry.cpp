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
    static_cast<void>(publish(*letter));
    return;
  }
  const auto first = queue_.first_of(*letter->key);
  if (first && first->id != id) {
    refuse(name + " waits behind number " + std::to_string(first->id),
           "walpost dlq retry " + std::to_string(first->id) +
               " publishes it and what waits behind it; walpost dlq discard " +
               std::to_string(first->id) + " gives it up");
  }
  key(*letter->key);
}

void LetterRetry::key(const std::string& key) {
  std::size_t published = 0;
  // The running relay may add to them until the key is released.
  do {
    while (const auto letter = queue_.first_of(key)) {
      if (!publish(*letter)) return;
      ++published;
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

bool LetterRetry::publish(const postgres::KeptLetter& letter) {
  const std::string name = "dead letter " + std::to_string(letter.id);
  const auto failure = publisher_.publish(letter);
  if (!failure) {
    queue_.published(letter.id);
    std::cout << name << ": published to " << *letter.topic << std::endl;
    return true;
  }
  ++failures_;
  queue_.failed_again(letter.id, *failure);
  std::cout << name << ": not published: " << *failure << std::endl;
  return false;
}

}  // namespace walpost::cli
