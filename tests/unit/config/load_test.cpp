#include "load_fixture.h"

namespace walpost::config {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::Pair;

TEST_F(LoadTest, NothingGivenIsTheDefaultsOfTheDesign) {
  const Config config = this->config();
  EXPECT_EQ(config.postgres.slot, "walpost");
  EXPECT_EQ(config.postgres.publication, "walpost");
  EXPECT_EQ(config.route.topic, "outbox.event.{aggregate_type}");
  EXPECT_EQ(config.route.key, "{aggregate_id}");
  EXPECT_THAT(config.route.topics, testing::IsEmpty());
  EXPECT_THAT(config.route.headers, testing::IsEmpty());
  EXPECT_THAT(config.outbox.columns, testing::IsEmpty());
  EXPECT_FALSE(config.outbox.tombstones);
  EXPECT_THAT(config.kafka.properties, ElementsAre(Pair("bootstrap.servers", "localhost:9092")));
  EXPECT_FALSE(config.kafka.create_topics.has_value());
  EXPECT_EQ(config.relay.in_flight_bytes, 8388608U);
  EXPECT_EQ(config.relay.in_flight_events, 100000U);
  EXPECT_EQ(config.log.level, "info");
  EXPECT_EQ(config.log.format, LogFormat::text);
}

TEST_F(LoadTest, EverySettingReachesItsPlace) {
  const Config config = config_of(R"(
postgres:
  url: postgresql://walpost@db/app
  slot: orders_1
  publication: Orders
  connect_timeout: 3s
  read_timeout: 45s
outbox:
  columns: {id: event_uuid, payload: body}
  tombstones: true
route:
  topic: "events.{aggregate_type}"
  topics: {order.placed: orders}
  key: "{tenant}:{aggregate_id}"
  headers: {tenant: "{tenant}"}
  format: raw
  create_topics: {partitions: 12, replication: 3}
kafka:
  bootstrap.servers: "k1:9092,k2:9092"
  linger.ms: 5
  socket.keepalive.enable: true
delivery:
  guarantee: at_least_once
  transaction_interval: 75ms
  on_poison: stop
  drain_timeout: 1m
position: file:/var/lib/walpost/position
limits: {in_flight_bytes: 1GB, in_flight_events: 5000}
log: {level: debug, format: json}
)");
  EXPECT_EQ(config.postgres.url, "postgresql://walpost@db/app");
  EXPECT_EQ(config.postgres.slot, "orders_1");
  EXPECT_EQ(config.postgres.publication, "Orders");
  EXPECT_EQ(config.postgres.connect_timeout, milliseconds(3000));
  EXPECT_EQ(config.postgres.read_timeout, milliseconds(45000));
  EXPECT_THAT(config.outbox.columns,
              ElementsAre(Pair("id", "event_uuid"), Pair("payload", "body")));
  EXPECT_TRUE(config.outbox.tombstones);
  EXPECT_EQ(config.postgres.position_file, "/var/lib/walpost/position");
  EXPECT_FALSE(config.keeps_position_in_kafka());
  EXPECT_EQ(config.kafka.transactions.interval, milliseconds(75));
  EXPECT_EQ(config.route.topic, "events.{aggregate_type}");
  EXPECT_THAT(config.route.topics, ElementsAre(Pair("order.placed", "orders")));
  EXPECT_EQ(config.route.key, "{tenant}:{aggregate_id}");
  EXPECT_THAT(config.route.headers, ElementsAre(Pair("tenant", "{tenant}")));
  ASSERT_TRUE(config.kafka.create_topics.has_value());
  EXPECT_EQ(config.kafka.create_topics->partitions, 12);
  EXPECT_EQ(config.kafka.create_topics->replication_factor, 3);
  EXPECT_THAT(config.kafka.properties,
              ElementsAre(Pair("bootstrap.servers", "k1:9092,k2:9092"), Pair("linger.ms", "5"),
                          Pair("socket.keepalive.enable", "true")));
  EXPECT_EQ(config.relay.drain_timeout, milliseconds(60000));
  EXPECT_EQ(config.relay.in_flight_bytes, 1000000000U);
  EXPECT_EQ(config.relay.in_flight_events, 5000U);
  EXPECT_EQ(config.log.level, "debug");
  EXPECT_EQ(config.log.format, LogFormat::json);
}

TEST_F(LoadTest, ExactlyOnceKeepsThePositionInKafkaUnasked) {
  EXPECT_EQ(config_of("position: kafka").guarantee, Guarantee::at_least_once);
  EXPECT_TRUE(config_of("position: kafka").keeps_position_in_kafka());
  EXPECT_TRUE(config_of("delivery: {guarantee: exactly_once}").keeps_position_in_kafka());
  EXPECT_FALSE(config_of("position: none").keeps_position_in_kafka());
}

TEST_F(LoadTest, AnEmptyFileAndEmptySectionsAreTheDefaults) {
  EXPECT_EQ(config_of("").postgres.slot, "walpost");
  EXPECT_EQ(config_of("# nothing\n").postgres.slot, "walpost");
  EXPECT_EQ(config_of("postgres:\nroute:\n  headers:\n").postgres.slot, "walpost");
  EXPECT_EQ(config_of("postgres:\n  slot:\n").postgres.slot, "walpost");
}

struct SizeCase {
  const char* text;
  std::size_t bytes;
};

class SizeTest : public LoadTest, public testing::WithParamInterface<SizeCase> {};

TEST_P(SizeTest, TakesBinaryAndDecimalUnits) {
  const Config config =
      config_of("limits: {in_flight_bytes: " + std::string(GetParam().text) + "}");
  EXPECT_EQ(config.relay.in_flight_bytes, GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Units, SizeTest,
                         testing::Values(SizeCase{"1048576", 1048576},
                                         SizeCase{"2000000B", 2000000}, SizeCase{"2000kB", 2000000},
                                         SizeCase{"2048KiB", 2097152}, SizeCase{"64MiB", 67108864},
                                         SizeCase{"64 MiB", 67108864}, SizeCase{"5MB", 5000000},
                                         SizeCase{"1GB", 1000000000}, SizeCase{"1GiB", 1073741824},
                                         SizeCase{"1gib", 1073741824}));

struct DurationCase {
  const char* text;
  std::int64_t milliseconds;
};

class DurationTest : public LoadTest, public testing::WithParamInterface<DurationCase> {};

TEST_P(DurationTest, TakesUnitsFromMillisecondsToHours) {
  const Config config =
      config_of("delivery: {drain_timeout: " + std::string(GetParam().text) + "}");
  EXPECT_EQ(config.relay.drain_timeout.count(), GetParam().milliseconds);
}

INSTANTIATE_TEST_SUITE_P(Units, DurationTest,
                         testing::Values(DurationCase{"500ms", 500}, DurationCase{"10s", 10000},
                                         DurationCase{"10 s", 10000}, DurationCase{"5m", 300000},
                                         DurationCase{"1h", 3600000}));

}  // namespace
}  // namespace walpost::config
