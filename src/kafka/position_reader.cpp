#include "position_reader.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <future>
#include <string_view>
#include <utility>

#include "bounded_end.h"
#include "cluster_queries.h"
#include "delivery_errors.h"
#include "topic_facts.h"
#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

constexpr std::int32_t partition = 0;
constexpr int batch = 1000;
// Usually some milliseconds; a broker that can't be reached may be waited for.
constexpr milliseconds end_limit{2000};

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw relay::SessionFailure(relay::FailureKind::refused, relay::Side::kafka, what, mend);
}

ClientHandle make_consumer(const PropertyMap& user) {
  ConfHandle conf(rd_kafka_conf_new());
  std::array<char, 512> reason{};
  for (const auto& [name, value] : reader_properties(user)) {
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(), reason.size()) !=
        RD_KAFKA_CONF_OK) {
      refuse("librdkafka doesn't accept the property kafka." + name, "correct or remove it");
    }
  }
  // The producer beside it says what there is to say about the brokers.
  rd_kafka_conf_set_log_cb(conf.get(), nullptr);
  ClientHandle client(rd_kafka_new(RD_KAFKA_CONSUMER, conf.get(), reason.data(), reason.size()));
  if (!client) {
    refuse("librdkafka can't create a consumer: " + std::string(reason.data()),
           "correct the properties under kafka");
  }
  static_cast<void>(conf.release());  // NOLINT(bugprone-unused-return-value)
  return client;
}

std::string_view bytes(const void* data, std::size_t size) {
  return data == nullptr ? std::string_view{}
                         : std::string_view(static_cast<const char*>(data), size);
}

[[noreturn]] void refuse_access(const std::string& reason) {
  refuse("this user may not read topic " + std::string(positions_topic) + ": " + reason,
         "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
         "--operation Read --operation Write --operation Describe --operation DescribeConfigs "
         "--topic " +
             std::string(positions_topic));
}

}  // namespace

PositionReader::PositionReader(const PropertyMap& user, std::string key, Extent extent)
    : key_(std::move(key)),
      extent_(extent),
      client_(make_consumer(user)),
      topic_(rd_kafka_topic_new(client_.get(), std::string(positions_topic).c_str(), nullptr)) {}

// librdkafka may wait for itself for ever when a consumer is destroyed while brokers restart or its
// topic is deleted (confluentinc/librdkafka#3007, #4131, #4362; seen with 2.0.2). What was read is
// here by then: nothing depends on the consumer's end.
PositionReader::~PositionReader() {
  std::packaged_task<void()> end(
      [client = std::move(client_), topic = std::move(topic_), consuming = consuming_]() mutable {
        if (consuming) rd_kafka_consume_stop(topic.get(), partition);
        topic.reset();
        client.reset();
      });
  if (ended_within(std::move(end), end_limit)) return;
  spdlog::warn(
      "kafka: the consumer that read topic {} has not ended within {} ms and is left behind; "
      "should "
      "it never end, a known fault of librdkafka, it costs its threads until walpost ends",
      positions_topic, end_limit.count());
}

bool PositionReader::advance(milliseconds slice) {
  switch (stage_) {
    case Stage::asking:
      return ask(slice);
    case Stage::reading:
      return read(slice);
    case Stage::done:
      return true;
  }
  return true;
}

// Where the log ends is asked before reading begins: right after a change of leader only this
// question is refused for as long as the answer could be too small.
bool PositionReader::ask(milliseconds slice) {
  using Kind = MetadataAnswer::Kind;
  const auto answer = ask_metadata(client_.get(), topic_.get(), slice);
  reason_ = answer.reason;
  topic_missing_ = answer.kind == Kind::missing;
  if (topic_missing_ && extent_ == Extent::available) {
    stage_ = Stage::done;
    return true;
  }
  if (answer.kind == Kind::unauthorized) refuse_access(answer.reason);
  if (answer.kind != Kind::found) return false;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const auto error =
      rd_kafka_query_watermark_offsets(client_.get(), std::string(positions_topic).c_str(),
                                       partition, &begin, &end, static_cast<int>(slice.count()));
  if (error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) refuse_access(rd_kafka_err2str(error));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    reason_ = rd_kafka_err2str(error);
    return false;
  }
  start_reading(end);
  return false;
}

void PositionReader::start_reading(std::int64_t end) {
  end_ = end;
  if (rd_kafka_consume_start(topic_.get(), partition, RD_KAFKA_OFFSET_BEGINNING) != 0) {
    reason_ = rd_kafka_err2str(rd_kafka_last_error());
    return;
  }
  consuming_ = true;
  stage_ = Stage::reading;
}

// A batch alone would be waited for until it is full or the time is over, though all was read.
bool PositionReader::read(milliseconds slice) {
  const MessageHandle first(
      rd_kafka_consume(topic_.get(), partition, static_cast<int>(slice.count())));
  if (!first) return false;
  take(*first);
  std::array<rd_kafka_message_t*, batch> messages{};
  const auto count =
      rd_kafka_consume_batch(topic_.get(), partition, 0, messages.data(), messages.size());
  for (ssize_t i = 0; i < count; ++i) {
    const MessageHandle message(messages[static_cast<std::size_t>(i)]);
    take(*message);
  }
  return stage_ == Stage::done;
}

void PositionReader::take(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    next_ = std::max(next_, message.offset);
    learn_end();
    if (end_known_ && (next_ >= end_ || extent_ == Extent::available)) stage_ = Stage::done;
    return;
  }
  if (message.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    refuse_access(rd_kafka_err2str(message.err));
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {  // librdkafka goes on trying
    reason_ = rd_kafka_err2str(message.err);
    return;
  }
  next_ = message.offset + 1;
  if (bytes(message.key, message.key_len) != key_) return;
  const auto value = bytes(message.payload, message.len);
  if (value.empty()) return found_.reset();  // an operator had it forgotten
  const auto position = decode(value);
  if (!position) {
    refuse("the position " + key_ + " in topic " + std::string(positions_topic) +
               " can't be understood: a newer walpost has written it, or something else",
           "run the version of walpost that wrote it");
  }
  found_ = newest(found_, *position);
}

// Of the newest answer to a fetch: the end of the log, open transactions included, unlike what a
// reader of committed records is told when it asks.
void PositionReader::learn_end() {
  if (end_known_) return;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const auto error = rd_kafka_get_watermark_offsets(
      client_.get(), std::string(positions_topic).c_str(), partition, &begin, &end);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR || end < 0) return;
  end_known_ = true;
  end_ = std::max(end_, end);
}

std::string PositionReader::waiting_for() const {
  if (stage_ == Stage::reading && end_known_)
    return "an open transaction in topic " + std::string(positions_topic) + " to end";
  return "topic " + std::string(positions_topic) + (reason_.empty() ? "" : ": " + reason_);
}

}  // namespace walpost::kafka
