#include "load_fixture.h"

namespace walpost::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct ProblemCase {
  const char* rule;
  const char* yaml;
  const char* problem;  ///< whole, without where it was found
};

void PrintTo(const ProblemCase& problem, std::ostream* out) {
  *out << problem.yaml;
}

class ProblemTest : public LoadTest, public testing::WithParamInterface<ProblemCase> {};

TEST_P(ProblemTest, IsReportedWithItsPathAndLine) {
  EXPECT_THAT(problems_of(GetParam().yaml),
              ElementsAre(std::string(GetParam().problem) + " (walpost.yaml, line 1)"));
}

std::string rule(const testing::TestParamInfo<ProblemCase>& info) {
  return info.param.rule;
}

INSTANTIATE_TEST_SUITE_P(
    UnknownKey, ProblemTest,
    testing::Values(
        ProblemCase{"MisspeltKey", "route: {topc: x}",
                    "route.topc: unknown key; did you mean route.topic?"},
        ProblemCase{"SwappedLetters", "postgres: {slto: x}",
                    "postgres.slto: unknown key; did you mean postgres.slot?"},
        ProblemCase{"MisspeltSection", "kafak: {}", "kafak: unknown key; did you mean kafka?"},
        ProblemCase{"NestedKey", "route: {create_topics: {partition: 1}}",
                    "route.create_topics.partition: unknown key; did you mean "
                    "route.create_topics.partitions?"},
        ProblemCase{"RightKeyInTheWrongSection", "slot: x",
                    "slot: unknown key; did you mean postgres.slot?"},
        ProblemCase{"NothingNear", "outbox: {message_prefix: x}",
                    "outbox.message_prefix: unknown key; known here: tombstones, columns"},
        ProblemCase{
            "NotInThisVersion", "webhook: {url: x}",
            "webhook: unknown key; known here: postgres, outbox, route, delivery, position, "
            "limits, log, kafka"},
        ProblemCase{"AdminIsNotInThisVersion", "admin: {listen: x}",
                    "admin: unknown key; known here: postgres, outbox, route, delivery, position, "
                    "limits, log, kafka"},
        ProblemCase{"UnknownField", "outbox: {columns: {paylod: x}}",
                    "outbox.columns.paylod: unknown field; did you mean payload?"}),
    rule);

INSTANTIATE_TEST_SUITE_P(
    Form, ProblemTest,
    testing::Values(
        ProblemCase{"SectionIsAValue", "postgres: x", "postgres: must be a map of settings"},
        ProblemCase{"SectionIsAList", "route: [a]", "route: must be a map of settings"},
        ProblemCase{"MapIsAValue", "route: {headers: x}",
                    "route.headers: must be a map of settings"},
        ProblemCase{"ValueIsAList", "postgres: {slot: [a]}",
                    "postgres.slot: must be a single value"},
        ProblemCase{"UnquotedTemplate", "route: {key: {aggregate_id}}",
                    "route.key: must be a single value, not a map; put quotes around a template, "
                    "such as \"{aggregate_id}\""},
        ProblemCase{"NestedKafkaProperty", "kafka: {ssl: {ca.location: x}}",
                    "kafka.ssl: must be a single value; write a property's whole name as one key, "
                    "such as kafka: {ssl.ca.location: /path}"},
        ProblemCase{"GivenTwice", "log: {level: info, level: debug}", "log.level: given twice"},
        ProblemCase{"KeyIsAList", "log: {[a]: b}", "log: a key must be plain text, and not empty"},
        ProblemCase{"KeyIsEmpty", "log: {'': b}", "log: a key must be plain text, and not empty"},
        ProblemCase{"FileIsAList", "[a]", "must be a map of settings"}),
    rule);

INSTANTIATE_TEST_SUITE_P(
    Value, ProblemTest,
    testing::Values(
        ProblemCase{"SlotInUpperCase", "postgres: {slot: Walpost}",
                    "postgres.slot: must be 1 to 63 of a-z, 0-9 and _, not \"Walpost\""},
        ProblemCase{"SlotWithDash", "postgres: {slot: a-b}",
                    "postgres.slot: must be 1 to 63 of a-z, 0-9 and _, not \"a-b\""},
        ProblemCase{"EmptySlot", "postgres: {slot: ''}",
                    "postgres.slot: must be 1 to 63 of a-z, 0-9 and _, not \"\""},
        ProblemCase{"EmptyPublication", "postgres: {publication: ''}",
                    "postgres.publication: must be a PostgreSQL identifier of 1 to 63 bytes, not "
                    "\"\""},
        ProblemCase{"DurationWithoutUnit", "postgres: {connect_timeout: 10}",
                    "postgres.connect_timeout: must be a duration with a unit, such as 500ms, 10s "
                    "or 5m, not \"10\""},
        ProblemCase{"DurationTooShort", "postgres: {read_timeout: 999ms}",
                    "postgres.read_timeout: must be between 1000ms and 3600000ms, not \"999ms\""},
        ProblemCase{"DurationThatOverflows", "delivery: {drain_timeout: 9223372036854775807h}",
                    "delivery.drain_timeout: must be a duration with a unit, such as 500ms, 10s or "
                    "5m, not \"9223372036854775807h\""},
        ProblemCase{"NoTimeToDrain", "delivery: {drain_timeout: 0s}",
                    "delivery.drain_timeout: must be between 1ms and 3600000ms, not \"0s\""},
        ProblemCase{"NotAFlag", "outbox: {tombstones: yes}",
                    "outbox.tombstones: must be true or false, not \"yes\""},
        ProblemCase{"NotASize", "limits: {in_flight_bytes: 64Mi}",
                    "limits.in_flight_bytes: must be a size such as 64MiB, 1GB or a plain number "
                    "of bytes, not \"64Mi\""},
        ProblemCase{"SizeThatOverflows", "limits: {in_flight_bytes: 99999999999GiB}",
                    "limits.in_flight_bytes: must be a size such as 64MiB, 1GB or a plain number "
                    "of bytes, not \"99999999999GiB\""},
        ProblemCase{"SizeTooSmall", "limits: {in_flight_bytes: 1048575}",
                    "limits.in_flight_bytes: must be at least 1MiB, not \"1048575\""},
        ProblemCase{"NoEvents", "limits: {in_flight_events: 0}",
                    "limits.in_flight_events: must be a whole number between 1 and 4000000, not "
                    "\"0\""},
        ProblemCase{"TooManyEvents", "limits: {in_flight_events: 4000001}",
                    "limits.in_flight_events: must be a whole number between 1 and 4000000, not "
                    "\"4000001\""},
        ProblemCase{"NegativeEvents", "limits: {in_flight_events: -1}",
                    "limits.in_flight_events: must be a whole number between 1 and 4000000, not "
                    "\"-1\""},
        ProblemCase{"UnsupportedFormat", "route: {format: cloudevents}",
                    "route.format: must be raw: this version supports no other, not "
                    "\"cloudevents\""},
        ProblemCase{"UnknownGuarantee", "delivery: {guarantee: exactly-once}",
                    "delivery.guarantee: must be at_least_once or exactly_once, not "
                    "\"exactly-once\""},
        ProblemCase{"NoTransactionInterval", "delivery: {transaction_interval: 0s}",
                    "delivery.transaction_interval: must be between 1ms and 10000ms, not "
                    "\"0s\""},
        ProblemCase{"PositionBesideTheTransactions",
                    "{position: \"file:/p\", delivery: {guarantee: exactly_once}}",
                    "position: must be kafka, or left out, with delivery.guarantee: exactly_once: "
                    "the position is part of the transactions"},
        ProblemCase{"UnknownPoisonPolicy", "delivery: {on_poison: skip}",
                    "delivery.on_poison: must be stop, dead_letter or park, not \"skip\""},
        ProblemCase{"NoDeadLetterAllowed", "delivery: {max_dead_letters: 0}",
                    "delivery.max_dead_letters: must be a whole number between 1 and 1000000, not "
                    "\"0\""},
        ProblemCase{"IllegalDeadLetterTopic", "delivery: {dead_letter_topic: \"a b\"}",
                    "delivery.dead_letter_topic: must be the name of a Kafka topic, not \"a b\""},
        ProblemCase{
            "DeadLetterTopicWhileParking",
            "delivery: {on_poison: park, dead_letter_topic: letters}",
            "delivery.dead_letter_topic: only goes with delivery.on_poison: dead_letter; what "
            "is parked has to be kept in table walpost.dead_letter"},
        ProblemCase{"PositionWithoutAPath", "position: \"file:\"",
                    "position: must be none, kafka, or file: and the path of a file, such as "
                    "file:/var/lib/walpost/position, not \"file:\""},
        ProblemCase{"UnknownPosition", "position: disk",
                    "position: must be none, kafka, or file: and the path of a file, such as "
                    "file:/var/lib/walpost/position, not \"disk\""},
        ProblemCase{"UnknownLogLevel", "log: {level: loud}",
                    "log.level: must be one of trace, debug, info, warn, error, not \"loud\""},
        ProblemCase{"UnknownLogFormat", "log: {format: xml}",
                    "log.format: must be text or json, not \"xml\""},
        ProblemCase{"NoPartitions", "route: {create_topics: {partitions: 0, replication: 1}}",
                    "route.create_topics.partitions: must be a whole number between 1 and "
                    "2147483647, not \"0\""},
        ProblemCase{"TooManyReplicas",
                    "route: {create_topics: {partitions: 1, replication: 32768}}",
                    "route.create_topics.replication: must be a whole number between 1 and 32767, "
                    "not \"32768\""},
        ProblemCase{"EmptyColumn", "outbox: {columns: {id: ''}}",
                    "outbox.columns.id: must name a column"},
        ProblemCase{"NoBrokers", "kafka: {bootstrap.servers: ''}",
                    "kafka.bootstrap.servers: must name at least one broker, such as kafka:9092"}),
    rule);

TEST_F(LoadTest, EveryProblemIsReportedAtOnceWithItsLine) {
  EXPECT_THAT(
      problems_of("postgres:\n"
                  "  slot: A\n"
                  "  uri: x\n"
                  "route:\n"
                  "  topic: '{'\n"
                  "  headers: {a: '}'}\n"
                  "kafka:\n"
                  "  acks: 1\n"
                  "  linger.mss: 1\n"
                  "log:\n"
                  "  level: '${NONE}'\n"),
      testing::UnorderedElementsAre(AllOf(StartsWith("postgres.slot: "), HasSubstr("line 2")),
                                    AllOf(StartsWith("postgres.uri: "), HasSubstr("line 3")),
                                    AllOf(StartsWith("route.topic: "), HasSubstr("line 5")),
                                    AllOf(StartsWith("route.headers.a: "), HasSubstr("line 6")),
                                    AllOf(StartsWith("kafka.acks"), HasSubstr("line 8")),
                                    AllOf(StartsWith("kafka.linger.mss: "), HasSubstr("line 9")),
                                    AllOf(StartsWith("log.level: "), HasSubstr("line 11"))));
}

TEST_F(LoadTest, TopicsThatKafkaWouldRefuseAreNamedByTheirEventType) {
  EXPECT_THAT(problems_of("route: {topics: {order.placed: 'no spaces please'}}"),
              ElementsAre(AllOf(StartsWith("route.topics.order.placed: "), HasSubstr("line 1"))));
}

TEST_F(LoadTest, TopicCreationNeedsBothNumbers) {
  EXPECT_THAT(problems_of("route: {create_topics: {partitions: 3}}"),
              ElementsAre("route.create_topics.replication: missing: route.create_topics needs "
                          "both partitions and replication"));
  EXPECT_THAT(problems_of("route: {create_topics: {replication: 3}}"),
              ElementsAre("route.create_topics.partitions: missing: route.create_topics needs "
                          "both partitions and replication"));
}

TEST_F(LoadTest, BrokenYamlIsReportedWithItsLine) {
  EXPECT_THAT(problems_of("log: {level: info}\nroute: {topic: [}\n"),
              ElementsAre(AllOf(StartsWith("not valid YAML: "), HasSubstr("line 2"))));
}

TEST_F(LoadTest, ASecondDocumentIsRefused) {
  EXPECT_THAT(problems_of("log: {level: info}\n---\nlog: {level: debug}\n"),
              ElementsAre(StartsWith("must be a single YAML document")));
}

TEST_F(LoadTest, AMissingFileIsNamed) {
  command_line_.file = (folder_ / "none.yaml").string();
  EXPECT_THAT(problems(),
              ElementsAre("cannot read the file: No such file or directory (none.yaml)"));
}

TEST_F(LoadTest, ProblemsOutsideTheFileNameTheirOption) {
  command_line_.sets = {"postgres.slot=A", "route.topc=x", "nonsense", "=x", "route={"};
  command_line_.log_level = "loud";
  EXPECT_THAT(problems(),
              ElementsAre("route.topc: unknown key; did you mean route.topic? (--set)",
                          "must look like path=value, such as postgres.slot=walpost (--set)",
                          "must look like path=value, such as postgres.slot=walpost (--set)",
                          AllOf(StartsWith("route: not a valid YAML map: "), HasSubstr("(--set)")),
                          "log.level: must be one of trace, debug, info, warn, error, not "
                          "\"loud\" (--log-level)",
                          "postgres.slot: must be 1 to 63 of a-z, 0-9 and _, not \"A\" (--set)"));
}

TEST_F(LoadTest, AProblemShowsTheValueAsWrittenAndNotWhatItExpandsTo) {
  variables_["LEVEL"] = "hunter2";
  EXPECT_THAT(problems_of("log: {level: '${LEVEL}'}"),
              ElementsAre(AllOf(HasSubstr("not \"${LEVEL}\" as it is now expanded"),
                                testing::Not(HasSubstr("hunter2")))));
}

TEST_F(LoadTest, BothNamesOfTheBrokersAreOneSetting) {
  file("kafka: {metadata.broker.list: 'file:9092'}");
  EXPECT_THAT(config().kafka.properties,
              ElementsAre(testing::Pair("bootstrap.servers", "file:9092")));
  command_line_.kafka_brokers = "option:9092";
  EXPECT_THAT(config().kafka.properties,
              ElementsAre(testing::Pair("bootstrap.servers", "option:9092")));
}

TEST_F(LoadTest, TheWholeErrorIsAHeaderAndOneLineForEachProblem) {
  command_line_.sets = {"a=1", "log.level=loud"};
  try {
    static_cast<void>(load_all());
    FAIL() << "not thrown";
  } catch (const InvalidConfig& invalid) {
    EXPECT_STREQ(
        invalid.what(),
        "the configuration is not valid:\n"
        "  a: unknown key; known here: postgres, outbox, route, delivery, position, limits, "
        "log, kafka (--set)\n"
        "  log.level: must be one of trace, debug, info, warn, error, not \"loud\" (--set)");
  }
}

}  // namespace
}  // namespace walpost::config
