#include "support/kafka_reader.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <stdexcept>

namespace walpost::test {
namespace {

constexpr int metadata_limit_ms = 10000;

struct DestroyMessage {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Message = std::unique_ptr<rd_kafka_message_t, DestroyMessage>;

std::optional<std::string_view> view_of(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  std::array<char, 256> error{};
  if (rd_kafka_conf_set(conf, name, value.c_str(), error.data(), error.size()) != RD_KAFKA_CONF_OK)
    throw std::runtime_error(error.data());
}

rd_kafka_conf_t* reader_configuration(const std::string& bootstrap) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "group.id", "walpost-test-reader");  // demanded by the API; nothing is ever committed
  set(conf, "enable.auto.commit", "false");
  set(conf, "enable.partition.eof", "true");
  set(conf, "isolation.level", "read_committed");
  set(conf, "auto.offset.reset", "earliest");
  set(conf, "fetch.wait.max.ms", "50");
  set(conf, "queued.max.messages.kbytes", "16384");  // a million records must not be held at once
  set(conf, "reconnect.backoff.max.ms", "200");
  set(conf, "log_level", "0");
  return conf;
}

int partition_count(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client, 0, handle, &metadata, metadata_limit_ms);
  rd_kafka_topic_destroy(handle);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("metadata of " + topic + ": " + rd_kafka_err2str(error));
  const int count = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
  rd_kafka_metadata_destroy(metadata);
  if (count == 0) throw std::runtime_error("no topic " + topic);
  return count;
}

HeaderViews headers_of(const rd_kafka_message_t* message) {
  HeaderViews views;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return views;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    views.emplace_back(name, view_of(value, size));
  return views;
}

RecordView view_of(const rd_kafka_message_t* message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t timestamp = rd_kafka_message_timestamp(message, &type);
  return {message->partition,
          message->offset,
          view_of(message->key, message->key_len),
          view_of(message->payload, message->len),
          milliseconds(timestamp),
          headers_of(message)};
}

std::optional<std::string> owned(const std::optional<std::string_view>& view) {
  if (!view) return std::nullopt;
  return std::string(*view);
}

ReadRecord owned(const RecordView& view) {
  ReadRecord record{view.partition,    view.offset,    owned(view.key),
                    owned(view.value), view.timestamp, {}};
  for (const auto& [name, value] : view.headers) record.headers.emplace_back(name, owned(value));
  return record;
}

}  // namespace

std::optional<std::string> ReadRecord::header(std::string_view name) const {
  const std::optional<std::string>* found = nullptr;
  for (const auto& entry : headers) {
    if (entry.first != name) continue;
    if (found != nullptr) throw std::runtime_error("several headers " + std::string(name));
    found = &entry.second;
  }
  return found != nullptr ? *found : std::nullopt;
}

void KafkaReader::Destroy::operator()(rd_kafka_s* client) const {
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
}

KafkaReader::KafkaReader(const std::string& bootstrap, const std::string& topic) : topic_(topic) {
  std::array<char, 256> error{};
  client_.reset(
      rd_kafka_new(RD_KAFKA_CONSUMER, reader_configuration(bootstrap), error.data(), error.size()));
  if (!client_) throw std::runtime_error(error.data());
  rd_kafka_poll_set_consumer(client_.get());
  const int count = partition_count(client_.get(), topic);
  rd_kafka_topic_partition_list_t* all = rd_kafka_topic_partition_list_new(count);
  for (std::int32_t partition = 0; partition < count; ++partition) {
    rd_kafka_topic_partition_list_add(all, topic.c_str(), partition)->offset =
        RD_KAFKA_OFFSET_BEGINNING;
    position_[partition] = 0;
  }
  const rd_kafka_resp_err_t assigned = rd_kafka_assign(client_.get(), all);
  rd_kafka_topic_partition_list_destroy(all);
  if (assigned != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(assigned));
}

KafkaReader::~KafkaReader() = default;

/// Whether a record was handed over; false also when only a position moved.
bool KafkaReader::poll_one(Deadline deadline, const OnRecord& on_record) {
  const Message message(
      rd_kafka_consumer_poll(client_.get(), static_cast<int>(deadline.left().count())));
  if (!message) return false;
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    // Carries the offset behind control records and aborted ones, which are never handed over.
    position_[message->partition] = message->offset;
    return false;
  }
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return false;  // retried by librdkafka
  position_[message->partition] = message->offset + 1;
  on_record(view_of(message.get()));
  return true;
}

std::size_t KafkaReader::each(std::size_t count, Deadline deadline, const OnRecord& on_record) {
  std::size_t read = 0;
  while (read < count && !deadline.passed())
    if (poll_one(deadline, on_record)) ++read;
  return read;
}

std::map<std::int32_t, std::int64_t> KafkaReader::end_offsets(Deadline deadline) const {
  std::map<std::int32_t, std::int64_t> ends;
  for (const auto& [partition, position] : position_) {
    std::int64_t first = 0;
    const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
        client_.get(), topic_.c_str(), partition, &first, &ends[partition],
        static_cast<int>(deadline.left().count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw std::runtime_error("end of " + topic_ + ": " + rd_kafka_err2str(error));
  }
  return ends;
}

bool KafkaReader::reached(const std::map<std::int32_t, std::int64_t>& ends) const {
  for (const auto& [partition, end] : ends)
    if (position_.at(partition) < end) return false;
  return true;
}

std::size_t KafkaReader::each_to_end(Deadline deadline, const OnRecord& on_record) {
  const auto ends = end_offsets(deadline);
  std::size_t read = 0;
  while (!reached(ends)) {
    if (deadline.passed()) throw std::runtime_error("the end of " + topic_ + " was not reached");
    if (poll_one(deadline, on_record)) ++read;
  }
  return read;
}

std::vector<ReadRecord> KafkaReader::read(std::size_t count, Deadline deadline) {
  std::vector<ReadRecord> records;
  each(count, deadline, [&](const RecordView& view) { records.push_back(owned(view)); });
  return records;
}

std::vector<ReadRecord> KafkaReader::read_to_end(Deadline deadline) {
  std::vector<ReadRecord> records;
  each_to_end(deadline, [&](const RecordView& view) { records.push_back(owned(view)); });
  return records;
}

}  // namespace walpost::test
