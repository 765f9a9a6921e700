#include "letter_publisher.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "walpost/relay/failure.h"

namespace walpost::cli {
namespace {

using relay::Accepted;

constexpr std::chrono::seconds delivery_timeout{30};

kafka::Options for_letters(kafka::Options options) {
  options.known_topics.clear();
  options.missing_topic_is_poison = true;
  return options;
}

}  // namespace

LetterPublisher::LetterPublisher(kafka::Options options, relay::Clock& clock)
    : clock_(clock), sink_(for_letters(std::move(options)), clock) {}

LetterPublisher::Outcome LetterPublisher::publish(std::span<const postgres::KeptLetter> letters) {
  if (!open_) sink_.open({});
  open_ = true;
  delivered_.assign(letters.size(), false);
  refusal_.reset();
  failed_ = false;
  const relay::Instant until = clock_.now() + delivery_timeout;
  std::size_t offered = 0;
  while (true) {
    poll();
    while (!refusal_ && offered < letters.size() && may_follow(letters, offered) &&
           offer(letters[offered], offered))
      ++offered;
    const auto first_open = std::find(delivered_.begin(), delivered_.end(), false);
    const auto published = static_cast<std::size_t>(first_open - delivered_.begin());
    if (published == letters.size()) return {published};
    if (refusal_ && (failed_ || sink_.in_flight() == 0)) {
      sink_.discard();
      open_ = false;
      return {published, refusal_};
    }
    wait(until);
  }
}

/// Kafka keeps the order only within a partition, and the letters are of one key.
bool LetterPublisher::may_follow(std::span<const postgres::KeptLetter> letters,
                                 std::size_t number) const {
  return sink_.in_flight() == 0 || letters[number].topic == letters[number - 1].topic;
}

/// False: not now.
bool LetterPublisher::offer(const postgres::KeptLetter& letter, std::size_t number) {
  if (!letter.topic) refusal_ = "it has no topic: give it one in column topic";
  if (!letter.key) refusal_ = "it has no key: give it one in column key";
  if (refusal_) return false;
  std::vector<outbox::Header> headers;
  for (const auto& [name, value] : letter.headers) {
    headers.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
  }
  const std::optional<std::string_view> value =
      letter.value ? std::optional<std::string_view>(*letter.value) : std::nullopt;
  const relay::Token token(0, static_cast<std::uint32_t>(number), 0);
  switch (sink_.publish({*letter.topic, *letter.key, value, headers}, token)) {
    case Accepted::yes:
      return true;
    case Accepted::full:
      return false;
    case Accepted::refused:
      refusal_ = sink_.refusal();
      return false;
  }
  return false;
}

void LetterPublisher::poll() {
  reports_.clear();
  sink_.poll(reports_);
  for (const relay::Token token : reports_.delivered) delivered_[token.ordinal()] = true;
  if (reports_.failed.empty()) return;
  failed_ = true;
  refusal_ = reports_.failed.front().reason;
}

void LetterPublisher::wait(relay::Instant until) {
  if (clock_.stop_requests() > 0) {
    throw relay::SessionFailure(relay::FailureKind::interrupted, relay::Side::walpost,
                                "stopped before the brokers answered");
  }
  if (clock_.now() >= until) {
    throw relay::SessionFailure(relay::FailureKind::transient, relay::Side::kafka,
                                "the brokers did not acknowledge within 30 s",
                                "walpost check tells whether they can be reached");
  }
  std::vector<pollfd> fds{{sink_.wake_fd(), POLLIN, 0}};
  clock_.wait(fds, until);
}

}  // namespace walpost::cli
