// The least that a relay from PostgreSQL to Kafka can do: reads a slot, takes key and payload out
// of each INSERT and hands them to librdkafka, until the stream has passed an LSN. It confirms
// nothing, sends no headers, knows one table layout, and would lose events at the first failure.
// What a relay costs is what it needs above this.
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr int key_column = 2;      // aggregate_id
constexpr int payload_column = 4;  // of the table that walpost init --create-outbox makes
constexpr int columns = 7;
constexpr int flush_limit_ms = 60000;

struct Arguments {
  std::string conninfo;
  std::string slot;
  std::string publication;
  std::string end;
  std::string bootstrap;
  std::string topic;
  long nap_us = 100;
};

template <class T>
T number_at(const char* data) {
  T number{};
  std::memcpy(&number, data, sizeof number);
  if constexpr (sizeof number == 8) return be64toh(number);
  if constexpr (sizeof number == 4) return ntohl(number);
  if constexpr (sizeof number == 2) return ntohs(number);
}

std::uint64_t lsn_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  return std::stoull(text.substr(0, slash), nullptr, 16) << 32 |
         std::stoull(text.substr(slash + 1), nullptr, 16);
}

class Stream {
 public:
  explicit Stream(const Arguments& arguments) : nap_{0, arguments.nap_us * 1000} {
    connection_.reset(PQconnectdb((arguments.conninfo + " replication=database").c_str()));
    const std::string start = "START_REPLICATION SLOT \"" + arguments.slot +
                              "\" LOGICAL 0/0 (proto_version '1', publication_names '" +
                              arguments.publication + "')";
    PGresult* result = PQexec(connection_.get(), start.c_str());
    const bool started = PQresultStatus(result) == PGRES_COPY_BOTH;
    PQclear(result);
    if (!started) throw std::runtime_error(PQerrorMessage(connection_.get()));
  }

  /// The next message, valid until the one after; waits for it. A nap lets the server's small
  /// writes gather; there is no need of one while large pieces come by themselves.
  std::string_view next(const auto& meanwhile) {
    char* data = nullptr;
    int size = 0;
    while ((size = PQgetCopyData(connection_.get(), &data, 1)) == 0) {
      meanwhile();
      pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
      poll(&readable, 1, 10);
      if (nap_.tv_nsec > 0 && since_read_ < large_piece) nanosleep(&nap_, nullptr);
      since_read_ = 0;
      if (PQconsumeInput(connection_.get()) == 0) size = -1;
    }
    if (size < 0) throw std::runtime_error(PQerrorMessage(connection_.get()));
    ++since_read_;
    message_.reset(data);
    return {data, static_cast<std::size_t>(size)};
  }

 private:
  struct Free {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(char* data) const { PQfreemem(data); }
  };
  std::unique_ptr<PGconn, Free> connection_;
  std::unique_ptr<char, Free> message_;
  static constexpr int large_piece = 32;  // messages; libpq takes 16 KiB at once
  int since_read_ = 0;                    // messages
  timespec nap_;
};

class Producer {
 public:
  Producer(const std::string& bootstrap, const std::string& topic) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const auto set = [&](const char* name, const std::string& value) {
      rd_kafka_conf_set(conf, name, value.c_str(), nullptr, 0);
    };
    set("bootstrap.servers", bootstrap);
    set("enable.idempotence", "true");
    set("linger.ms", "5");
    set("queue.buffering.max.messages", "500000");
    set("queue.buffering.max.kbytes", "262144");
    set("partitioner", "murmur2_random");
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) ++failed;
    });
    std::array<char, 256> reason{};
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason.data(), reason.size()));
    if (!client_) throw std::runtime_error(reason.data());
    topic_.reset(rd_kafka_topic_new(client_.get(), topic.c_str(), nullptr));
  }

  void publish(std::string_view key, std::string_view payload) {
    void* data = const_cast<char*>(payload.data());  // copied, as MSG_F_COPY says
    while (rd_kafka_produce(topic_.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, data,
                            payload.size(), key.data(), key.size(), nullptr) != 0)
      rd_kafka_poll(client_.get(), 10);  // its queue is full
  }

  void poll() { rd_kafka_poll(client_.get(), 0); }

  void finish() {
    rd_kafka_flush(client_.get(), flush_limit_ms);
    if (failed > 0 || rd_kafka_outq_len(client_.get()) > 0)
      throw std::runtime_error("not every record was acknowledged");
  }

 private:
  struct Destroy {
    void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
    void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  };
  static inline long failed = 0;
  std::unique_ptr<rd_kafka_t, Destroy> client_;
  std::unique_ptr<rd_kafka_topic_t, Destroy> topic_;
};

/// `row` begins with the number of columns.
void publish_row(const char* row, Producer& producer) {
  std::array<std::string_view, columns> values{};
  const int count = number_at<std::uint16_t>(row);
  row += 2;
  for (int column = 0; column < count; ++column) {
    const char kind = *row++;
    if (kind != 't') continue;
    const auto size = number_at<std::uint32_t>(row);
    row += 4;
    if (column < columns) values[static_cast<std::size_t>(column)] = {row, size};
    row += size;
  }
  producer.publish(values[key_column], values[payload_column]);
}

/// Whether the stream has passed `end` with this message.
bool take(std::string_view message, std::uint64_t end, Producer& producer) {
  const char* data = message.data();
  if (data[0] == 'k') return number_at<std::uint64_t>(data + 1) >= end;
  const char* change = data + 25;  // behind two LSNs and a time
  if (change[0] == 'I') publish_row(change + 6, producer);
  return change[0] == 'C' && number_at<std::uint64_t>(change + 10) >= end;
}

void relay(const Arguments& arguments) {
  const std::uint64_t end = lsn_of(arguments.end);
  Producer producer(arguments.bootstrap, arguments.topic);
  Stream stream(arguments);
  while (!take(stream.next([&] { producer.poll(); }), end, producer)) {
  }
  producer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reads a slot up to an LSN and publishes its INSERTs, with no care at all.");
  Arguments arguments;
  app.add_option("conninfo", arguments.conninfo)->required();
  app.add_option("slot", arguments.slot)->required();
  app.add_option("publication", arguments.publication)->required();
  app.add_option("end", arguments.end, "an LSN")->required();
  app.add_option("bootstrap", arguments.bootstrap, "HOST:PORT of the brokers")->required();
  app.add_option("topic", arguments.topic)->required();
  app.add_option("--nap", arguments.nap_us, "microseconds before each read")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    relay(arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
