#include "letter_publisher.h"

#include <utility>
#include <vector>

#include "walpost/relay/failure.h"

namespace walpost::cli {
namespace {

using relay::Accepted;
using relay::DeliveryFailure;

constexpr std::chrono::seconds delivery_timeout{30};

kafka::Options for_letters(kafka::Options options) {
  options.known_topics.clear();
  options.missing_topic_is_poison = true;
  return options;
}

}  // namespace

LetterPublisher::LetterPublisher(kafka::Options options, relay::Clock& clock)
    : clock_(clock), sink_(for_letters(std::move(options)), clock) {}

std::optional<std::string> LetterPublisher::publish(const postgres::KeptLetter& letter) {
  if (!letter.topic) return "it has no topic; give it one in column topic of walpost.dead_letter";
  if (!letter.key) return "it has no key; give it one in column key of walpost.dead_letter";
  std::vector<outbox::Header> headers;
  for (const auto& [name, value] : letter.headers) {
    headers.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
  }
  if (!open_) sink_.open({});
  open_ = true;
  auto failure = deliver(
      {*letter.topic, *letter.key,
       letter.value ? std::optional<std::string_view>(*letter.value) : std::nullopt, headers});
  if (failure) {
    sink_.discard();
    open_ = false;
  }
  return failure;
}

std::optional<std::string> LetterPublisher::deliver(const outbox::Record& record) {
  const relay::Instant until = clock_.now() + delivery_timeout;
  relay::Reports reports;
  bool taken = false;
  while (true) {
    reports.clear();
    sink_.poll(reports);
    if (!reports.failed.empty()) return reports.failed.front().reason;
    if (!reports.delivered.empty()) return std::nullopt;
    if (!taken) {
      const Accepted accepted = sink_.publish(record, relay::Token());
      if (accepted == Accepted::refused) return sink_.refusal();
      taken = accepted == Accepted::yes;
    }
    wait(until);
  }
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
