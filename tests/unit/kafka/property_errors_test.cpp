#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "walpost/kafka/check.h"

namespace walpost::kafka {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Map = std::map<std::string, std::string>;

std::vector<std::string> errors_of(Map properties) {
  properties.emplace("bootstrap.servers", "localhost:9092");
  return property_errors(properties);
}

struct Setting {
  std::string name;
  std::string value;
};
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.name << "=" << setting.value;
}

class Unsafe : public testing::TestWithParam<Setting> {};

TEST_P(Unsafe, PropertyIsRefusedByName) {
  const auto& [name, value] = GetParam();
  EXPECT_THAT(errors_of({{name, value}}),
              ElementsAre(AllOf(HasSubstr("kafka." + name), HasSubstr("is refused: "))));
}

INSTANTIATE_TEST_SUITE_P(
    PropertyErrors, Unsafe,
    testing::Values(Setting{"acks", "1"}, Setting{"acks", "0"},
                    Setting{"request.required.acks", "1"}, Setting{"enable.idempotence", "false"},
                    Setting{"enable.idempotence", "FALSE"},
                    Setting{"enable.gapless.guarantee", "false"},
                    Setting{"message.timeout.ms", "300000"}, Setting{"delivery.timeout.ms", "1"},
                    Setting{"allow.auto.create.topics", "true"},
                    Setting{"partitioner", "consistent_random"}, Setting{"partitioner", "fnv1a"},
                    Setting{"max.in.flight", "6"},
                    Setting{"max.in.flight.requests.per.connection", "0"}, Setting{"retries", "10"},
                    Setting{"message.send.max.retries", "0"}, Setting{"queuing.strategy", "lifo"},
                    Setting{"delivery.report.only.error", "true"}, Setting{"transactional.id", "a"},
                    Setting{"dr_msg_cb", "x"}, Setting{"oauthbearer_token_refresh_cb", "x"},
                    Setting{"opaque", "x"}, Setting{"default_topic_conf", "x"},
                    Setting{"enabled_events", "1"}, Setting{"log.queue", "false"},
                    Setting{"interceptors", "x"}, Setting{"plugin.library.paths", "monitor"}));

class Safe : public testing::TestWithParam<Setting> {};

TEST_P(Safe, PropertyIsAccepted) {
  EXPECT_THAT(errors_of({{GetParam().name, GetParam().value}}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    PropertyErrors, Safe,
    testing::Values(Setting{"acks", "all"}, Setting{"acks", "-1"}, Setting{"acks", "ALL"},
                    Setting{"enable.idempotence", "true"}, Setting{"message.timeout.ms", "0"},
                    Setting{"partitioner", "murmur2"}, Setting{"partitioner", "murmur2_random"},
                    Setting{"max.in.flight", "5"}, Setting{"max.in.flight", "1"},
                    Setting{"retries", "2147483647"}, Setting{"compression.type", "zstd"},
                    Setting{"linger.ms", "5"}, Setting{"sasl.password", "secret"},
                    Setting{"security.protocol", "SASL_SSL"}, Setting{"debug", "broker"}));

TEST(PropertyErrors, RefusalNamesTheReasonAndTheSafeValue) {
  EXPECT_THAT(errors_of({{"acks", "1"}}),
              ElementsAre(AllOf(HasSubstr("kafka.acks=1"), HasSubstr("in-sync replicas"),
                                HasSubstr("set all"))));
}

TEST(PropertyErrors, UnknownPropertyIsNamedWithTheNearestKnownOne) {
  EXPECT_THAT(errors_of({{"linger.msec", "5"}}),
              ElementsAre(AllOf(HasSubstr("kafka.linger.msec"), HasSubstr("mean linger.ms?"))));
  EXPECT_THAT(errors_of({{"ACKS", "all"}}), ElementsAre(HasSubstr("mean acks?")));
}

TEST(PropertyErrors, UnknownPropertyLikeNothingGetsNoSuggestion) {
  EXPECT_THAT(errors_of({{"quite.something.else", "5"}}),
              ElementsAre(Not(HasSubstr("did you mean"))));
}

TEST(PropertyErrors, ValuesThatMayBeSecretAreNeverRepeated) {
  for (const std::string name :
       {"linger.ms", "ssl.key.pem", "sasl.password", "security.protocol", "no.such.property",
        "socket.nagle.disable", "transactional.id", "sasl.oauthbearer.config"}) {
    for (const auto& error : errors_of({{name, "hunter2-secret"}})) {
      EXPECT_THAT(error, Not(HasSubstr("hunter2"))) << name;
    }
  }
}

TEST(PropertyErrors, AValueOutOfRangeIsExplainedByTheRange) {
  EXPECT_THAT(errors_of({{"socket.timeout.ms", "5"}}),
              ElementsAre(AllOf(HasSubstr("kafka.socket.timeout.ms"),
                                HasSubstr("outside allowed range 10..300000"))));
}

TEST(PropertyErrors, TwoNamesOfOnePropertyAreRefused) {
  EXPECT_THAT(errors_of({{"linger.ms", "5"}, {"queue.buffering.max.ms", "7"}}),
              ElementsAre(HasSubstr("two names of one property")));
}

TEST(PropertyErrors, AllAreReportedAtOnce) {
  EXPECT_EQ(errors_of({{"acks", "1"}, {"linger.msec", "5"}, {"retries", "1"}}).size(), 3u);
}

TEST(PropertyErrors, BrokersMustBeNamed) {
  EXPECT_THAT(property_errors({}), ElementsAre(HasSubstr("bootstrap.servers")));
}

}  // namespace
}  // namespace walpost::kafka
