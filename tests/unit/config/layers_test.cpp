#include "load_fixture.h"

namespace walpost::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST_F(LoadTest, EachLayerWinsOverTheOneBelow) {
  EXPECT_EQ(config().postgres.url, "postgresql:///");
  file("postgres: {url: from-file}");
  EXPECT_EQ(config().postgres.url, "from-file");
  variables_["WALPOST_POSTGRES_URL"] = "from-environment";
  EXPECT_EQ(config().postgres.url, "from-environment");
  command_line_.sets = {"postgres.url=from-set"};
  EXPECT_EQ(config().postgres.url, "from-set");
  command_line_.postgres_url = "from-option";
  EXPECT_EQ(config().postgres.url, "from-option");
}

TEST_F(LoadTest, TheBrokersComeFromTheSameLayers) {
  file("kafka: {bootstrap.servers: from-file}");
  variables_["WALPOST_KAFKA_BOOTSTRAP_SERVERS"] = "from-environment";
  EXPECT_THAT(config().kafka.properties,
              ElementsAre(Pair("bootstrap.servers", "from-environment")));
  command_line_.kafka_brokers = "from-option";
  EXPECT_THAT(config().kafka.properties, ElementsAre(Pair("bootstrap.servers", "from-option")));
}

TEST_F(LoadTest, TheLogOptionsWinOverTheFile) {
  file("log: {level: debug, format: text}");
  command_line_.log_level = "warn";
  command_line_.log_format = "json";
  EXPECT_EQ(config().log.level, "warn");
  EXPECT_EQ(config().log.format, LogFormat::json);
}

TEST_F(LoadTest, TheFileIsFoundThroughTheEnvironmentUnlessNamed) {
  variables_["WALPOST_CONFIG"] = write("by-environment.yaml", "postgres: {slot: environment}");
  EXPECT_EQ(config().postgres.slot, "environment");
  file("postgres: {slot: named}");
  EXPECT_EQ(config().postgres.slot, "named");
}

TEST_F(LoadTest, AnEmptyVariableIsNoVariable) {
  variables_ = {{"WALPOST_CONFIG", ""},
                {"WALPOST_POSTGRES_URL", ""},
                {"WALPOST_KAFKA_BOOTSTRAP_SERVERS", ""}};
  EXPECT_EQ(config().postgres.url, "postgresql:///");
  EXPECT_THAT(config().kafka.properties, ElementsAre(Pair("bootstrap.servers", "localhost:9092")));
}

TEST_F(LoadTest, AnOverriddenValueIsNotEvaluated) {
  file("postgres: {url: '${UNSET}', slot: NOT-LEGAL}");
  command_line_.postgres_url = "host=db";
  command_line_.sets = {"postgres.slot=legal"};
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LoadTest, AddressesOutsideTheFileAreTakenAsTheyAre) {
  command_line_.postgres_url = "password=a$$b${c}";
  EXPECT_EQ(config().postgres.url, "password=a$$b${c}");
  command_line_.postgres_url.reset();
  variables_["WALPOST_POSTGRES_URL"] = "password=a$$b${c}";
  EXPECT_EQ(config().postgres.url, "password=a$$b${c}");
}

TEST_F(LoadTest, TheLastOfTwoAssignmentsWins) {
  command_line_.sets = {"postgres.slot=one", "postgres.slot=two"};
  EXPECT_EQ(config().postgres.slot, "two");
}

TEST_F(LoadTest, MapsOfSeveralLayersAreMergedByName) {
  file("kafka: {linger.ms: 1, client.id: file}");
  command_line_.sets = {"kafka.linger.ms=5", "kafka={acks: all}"};
  EXPECT_THAT(config().kafka.properties,
              ElementsAre(Pair("acks", "all"), Pair("bootstrap.servers", "localhost:9092"),
                          Pair("client.id", "file"), Pair("linger.ms", "5")));
}

TEST_F(LoadTest, EverythingBehindTheMapIsTheNameOfAnEntry) {
  command_line_.sets = {"route.topics.order.placed=orders", "route.headers.x-a.b={tenant}"};
  EXPECT_THAT(config().route.topics, ElementsAre(Pair("order.placed", "orders")));
  EXPECT_THAT(config().route.headers, ElementsAre(Pair("x-a.b", "{tenant}")));
}

TEST_F(LoadTest, AWholeSectionCanBeAssignedAsAFlowMap) {
  command_line_.sets = {"limits={in_flight_events: 7, in_flight_bytes: 2MiB}"};
  EXPECT_EQ(config().relay.in_flight_events, 7U);
  EXPECT_EQ(config().relay.in_flight_bytes, 2097152U);
}

TEST_F(LoadTest, AnAssignedValueIsTextEvenIfItLooksLikeYaml) {
  command_line_.sets = {"route.key={aggregate_id}", "postgres.url=host=db # not a comment",
                        "kafka.client.id=a: b"};
  EXPECT_EQ(config().route.key, "{aggregate_id}");
  EXPECT_EQ(config().postgres.url, "host=db # not a comment");
  EXPECT_EQ(config().kafka.properties.at("client.id"), "a: b");
}

TEST_F(LoadTest, AnAssignedValueMayBeQuoted) {
  command_line_.sets = {"kafka.client.id=\"two words\""};
  EXPECT_EQ(config().kafka.properties.at("client.id"), "two words");
}

TEST_F(LoadTest, AnAssignedNullIsTheDefault) {
  file("postgres: {slot: other}");
  for (const char* null : {"", "~", "null"}) {
    command_line_.sets = {"postgres.slot=" + std::string(null)};
    EXPECT_EQ(config().postgres.slot, "walpost") << null;
  }
}

TEST_F(LoadTest, AnAssignmentIsExpandedLikeTheFile) {
  variables_["SLOT"] = "orders";
  command_line_.sets = {"postgres.slot=${SLOT}"};
  EXPECT_EQ(config().postgres.slot, "orders");
}

}  // namespace
}  // namespace walpost::config
