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

// librdkafka's own default.
constexpr const char* default_transaction_timeout = "60000";

// Of what a name that concerns the way to the brokers begins with.
constexpr std::array<std::string_view, 15> connection_properties{"metadata.broker.list",
                                                                 "client.id",
                                                                 "client.dns.lookup",
                                                                 "security.",
                                                                 "sasl.",
                                                                 "ssl.",
                                                                 "enable.ssl.",
                                                                 "enable.sasl.",
                                                                 "socket.",
                                                                 "broker.",
                                                                 "reconnect.",
                                                                 "connections.",
                                                                 "api.version.",
                                                                 "metadata.",
                                                                 "test.mock."};

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

ProducerProperties transactional_properties(const PropertyMap& user,
                                            std::optional<std::size_t> batch_limit,
                                            const std::string& transactional_id) {
  const auto chosen = user.find("transaction.timeout.ms");
  const std::string timeout = chosen == user.end() ? default_transaction_timeout : chosen->second;
  ProducerProperties result = producer_properties(user, batch_limit);
  // An expired or refused record fails the whole transaction: nothing of it is ever seen. The
  // fatal error of the gapless guarantee would only keep the transaction from being aborted.
  std::erase_if(result.values,
                [](const auto& each) { return each.first == "enable.gapless.guarantee"; });
  for (auto& [name, value] : result.values) {
    if (name == "message.timeout.ms") value = timeout;
  }
  result.values.emplace_back("transaction.timeout.ms", timeout);
  result.values.emplace_back("transactional.id", transactional_id);
  return result;
}

std::vector<std::pair<std::string, std::string>> reader_properties(const PropertyMap& user) {
  std::map<std::string, std::string> merged;
  for (const auto& [name, value] : user) {
    const std::string canonical(canonical_name(name));
    const bool reaches_brokers = std::ranges::any_of(
        connection_properties,
        [&](std::string_view prefix) { return std::string_view(canonical).starts_with(prefix); });
    if (reaches_brokers) merged[canonical] = value;
  }
  merged.emplace("client.id", "walpost");
  merged["isolation.level"] = "read_committed";
  merged["enable.partition.eof"] = "true";
  merged["allow.auto.create.topics"] = "false";
  merged["fetch.wait.max.ms"] = "5";  // the end is known once a fetch has brought nothing
  return {merged.begin(), merged.end()};
}

}  // namespace walpost::kafka
