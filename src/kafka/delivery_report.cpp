#include "delivery_report.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "delivery_errors.h"
#include "record_size.h"
#include "walpost/outbox/router.h"

namespace walpost::kafka {
namespace {

using Kind = relay::DeliveryFailure::Kind;

std::optional<std::string_view> bytes(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

std::string event_id_of(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  const std::string name(outbox::message_id_header);
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name.c_str(), &value, &size) !=
          RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return std::string(bytes(value, size).value_or(""));
}

/// Calls `visit(name, value, size)` for each header.
template <typename Visit>
void each_header(const rd_kafka_message_t& message, Visit visit) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    visit(std::string_view(name), value, size);
  }
}

std::size_t size_of(const rd_kafka_message_t& message) {
  std::vector<outbox::Header> headers;
  each_header(message, [&](std::string_view name, const void* value, std::size_t size) {
    headers.push_back({name, bytes(value, size)});
  });
  return batch_bytes({{},
                      bytes(message.key, message.key_len).value_or(""),
                      bytes(message.payload, message.len),
                      headers});
}

/// A record that fits the limit we read, refused for its size: somebody has lowered the limit. The
/// next producer reads it again; if it is refused once more, it is the record after all.
bool was_limit_lowered(const rd_kafka_message_t& message, unsigned generation) {
  Topic& topic = topic_of(message);
  const auto limit = topic.facts.limits.max_message_bytes;
  if (!limit || size_of(message) > *limit) return false;
  if (topic.size_doubted_by == 0) topic.size_doubted_by = generation;
  return topic.size_doubted_by == generation;
}

}  // namespace

Rank rank_of(Kind kind) {
  switch (kind) {
    case Kind::permanent:
      return Rank::record;
    case Kind::retryable:
      return Rank::environment;
    case Kind::fatal:
      return Rank::producer;
  }
  return Rank::collateral;
}

Topic& topic_of(const rd_kafka_message_t& message) {
  return *static_cast<Topic*>(rd_kafka_topic_opaque(message.rkt));
}

relay::Token token_of(const rd_kafka_message_t& message) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the opaque carries the number, never an address
  return relay::Token::unpack(reinterpret_cast<std::uintptr_t>(message._private));
}

std::size_t memory_bytes(const rd_kafka_message_t& message) {
  std::size_t sum = record_overhead_bytes + message.key_len + message.len;
  each_header(message, [&](std::string_view name, const void*, std::size_t size) {
    sum += header_overhead_bytes + name.size() + size;
  });
  return sum;
}

RankedFailure failure_of(const rd_kafka_message_t& message, unsigned generation) {
  RankedFailure result;
  auto& failure = result.failure;
  failure.kind = failure_kind(message.err);
  failure.reason = rd_kafka_err2str(message.err);
  if (message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE &&
      was_limit_lowered(message, generation)) {
    failure.kind = Kind::retryable;
    failure.reason += " although it fits max.message.bytes as last read: reading it again";
  }
  failure.token = token_of(message);
  failure.topic = topic_of(message).name;
  failure.event_id = event_id_of(message);
  const bool purged = message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                      message.err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
  result.rank = purged ? Rank::collateral : rank_of(failure.kind);
  return result;
}

std::optional<FatalError> fatal_error(rd_kafka_t* client) {
  std::array<char, 512> reason{};
  const auto code = rd_kafka_fatal_error(client, reason.data(), reason.size());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  return FatalError{code, reason.data()};
}

}  // namespace walpost::kafka
