#include "properties.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace walpost::kafka {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 9> aliases{{
    {"acks", "request.required.acks"},
    {"bootstrap.servers", "metadata.broker.list"},
    {"compression.type", "compression.codec"},
    {"delivery.timeout.ms", "message.timeout.ms"},
    {"linger.ms", "queue.buffering.max.ms"},
    {"max.in.flight", "max.in.flight.requests.per.connection"},
    {"max.partition.fetch.bytes", "fetch.message.max.bytes"},
    {"retries", "message.send.max.retries"},
    {"sasl.mechanism", "sasl.mechanisms"},
}};

// Below the broker's default max.message.bytes of 1,048,588, and librdkafka's own default.
constexpr std::size_t default_batch_bytes = 1'000'000;

// The first group is the delivery promise (R5). The second keeps librdkafka's queue from binding
// before the relay's own limits, its batching out of the way of the relay's, and its client-side
// size limit out of the way of the topic's: batch.size is what bounds a batch. An idle connection
// that a broker closes is no trouble worth an error.
constexpr std::array<Pair, 15> defaults{{
    {"enable.idempotence", "true"},
    {"enable.gapless.guarantee", "true"},
    {"request.required.acks", "all"},
    {"message.timeout.ms", "0"},
    {"allow.auto.create.topics", "false"},
    {"partitioner", "murmur2_random"},
    {"max.in.flight.requests.per.connection", "1"},

    {"queue.buffering.max.messages", "0"},
    {"queue.buffering.max.kbytes", "2147483647"},
    {"queue.buffering.max.ms", "0"},
    {"message.max.bytes", "1000000000"},
    {"socket.nagle.disable", "true"},
    {"socket.keepalive.enable", "true"},
    {"log.connection.close", "false"},
    {"client.id", "walpost"},
}};

std::size_t number(std::string_view text, std::size_t otherwise) {
  std::size_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string_view canonical_name(std::string_view property) {
  const auto* found =
      std::ranges::find_if(aliases, [&](const Pair& alias) { return alias.first == property; });
  return found == aliases.end() ? property : found->second;
}

ProducerProperties producer_properties(const PropertyMap& user,
                                       std::optional<std::size_t> batch_limit) {
  std::map<std::string, std::string, std::less<>> merged;
  for (const auto& [name, value] : defaults) merged.emplace(name, value);
  for (const auto& [name, value] : user) merged[std::string(canonical_name(name))] = value;

  ProducerProperties result;
  result.batch_bytes_chosen = merged.contains("batch.size");
  if (!result.batch_bytes_chosen) {
    const auto bytes = std::min(default_batch_bytes, batch_limit.value_or(default_batch_bytes));
    merged.emplace("batch.size", std::to_string(bytes));
  }
  result.batch_bytes = number(merged["batch.size"], default_batch_bytes);
  const auto compression = merged.find("compression.codec");
  result.compressed = compression != merged.end() && compression->second != "none";
  result.values.assign(merged.begin(), merged.end());
  // Reports, errors and logs come through the event queue; see Producer.
  result.values.emplace_back("log.queue", "true");
  return result;
}

}  // namespace walpost::kafka
