#include "unit/outbox/routing.h"

namespace walpost::outbox {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RawFormat : public Routing {
 protected:
  RawFormat() { learn(all_columns); }
};

Row with_headers(const Text& json, const Text& created_at = std::nullopt) {
  return {"7", "order", "A1", "Placed", "{}", json, created_at};
}

TEST_F(RawFormat, HeadersAreTheRowsThenTheDefaultsThenTheTemplates) {
  use({.headers = {{"source", "{schema}.{table}"}, {"a-key", "{aggregate_id}"}}});
  EXPECT_THAT(headers(with_headers(R"({"trace":"x","n":1.10,"gone":null})",
                                   "2026-11-30 22:37:24.123456+05:30")),
              ElementsAre("trace=x", "n=1.10", "gone", "messageId=7", "eventType=Placed",
                          "aggregateType=order", "occurredAt=2026-11-30T17:07:24.123456Z",
                          "walpost-position=16/B374D848/3", "a-key=A1", "source=app.outbox"));
}

TEST_F(RawFormat, RowsMemberNamedLikeADefaultStandsBeforeIt) {
  EXPECT_THAT(headers(with_headers(R"({"messageId":"mine","x":"1"})")),
              ElementsAre("messageId=mine", "x=1", "messageId=7", "eventType=Placed",
                          "aggregateType=order", "walpost-position=16/B374D848/3"));
}

TEST_F(RawFormat, TemplateNamedLikeADefaultStandsAfterIt) {
  use({.headers = {{"eventType", "v2.{event_type}"}}});
  EXPECT_THAT(headers(with_headers({})),
              ElementsAre("messageId=7", "eventType=Placed", "aggregateType=order",
                          "walpost-position=16/B374D848/3", "eventType=v2.Placed"));
}

TEST_F(RawFormat, WhatTheRowLacksIsLeftOut) {
  EXPECT_THAT(headers(Row{"7", "", "A1", {}, "{}", {}, {}}),
              ElementsAre("messageId=7", "aggregateType=", "walpost-position=16/B374D848/3"));
}

TEST_F(RawFormat, WhatTheTableLacksIsLeftOut) {
  use({.topic = "all"});
  learn({{"id", oid::int8}, {"aggregate_id", oid::text}, {"payload", oid::text}});
  EXPECT_THAT(headers(Row{"7", "A1", "p"}),
              ElementsAre("messageId=7", "walpost-position=16/B374D848/3"));
}

TEST_F(RawFormat, HeaderTemplateOverNullIsLeftOut) {
  use({.headers = {{"kind", "k.{event_type}"}, {"key", "{aggregate_id}"}}});
  EXPECT_THAT(headers(Row{"7", "order", "A1", {}, "{}", {}, {}}),
              ElementsAre("messageId=7", "aggregateType=order", "walpost-position=16/B374D848/3",
                          "key=A1"));
}

TEST_F(RawFormat, SideEffectsIdempotencyKeyIsReachedByATemplate) {
  learn({{"id", oid::int8},
         {"aggregate_id", oid::text},
         {"effect_type", oid::text},
         {"payload", oid::text},
         {"idempotency_key", oid::uuid}});
  use({.topic = "effects", .headers = {{"idempotencyKey", "{idempotency_key}"}}});
  EXPECT_THAT(headers(Row{"7", "A1", "email", "p", "once"}),
              ElementsAre("messageId=7", "eventType=email", "walpost-position=16/B374D848/3",
                          "idempotencyKey=once"));
}

// "16/B374D848" is the pg_lsn of PostgreSQL's documentation.
TEST_F(RawFormat, PositionIsWrittenAsPostgresWritesAnLsn) {
  const auto written = [&](std::uint64_t lsn, std::uint32_t ordinal) {
    position_ = {pgoutput::Lsn{lsn}, ordinal, {}};
    return headers(with_headers({})).back();
  };
  EXPECT_EQ(written(0x16B374D848, 0), "walpost-position=16/B374D848/0");
  EXPECT_EQ(written(0x0000000000000001, 9), "walpost-position=0/1/9");
  EXPECT_EQ(written(0x0000000100000000, 10), "walpost-position=1/0/10");
  EXPECT_EQ(written(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF),
            "walpost-position=FFFFFFFF/FFFFFFFF/4294967295");
}

TEST_F(RawFormat, HeadersThatAreNotAnObjectArePoison) {
  for (const std::string_view json : {"[]", "null", "\"x\"", "{", "{\"a\":\"\\ud800\"}"}) {
    const Poison poisoned = poison(with_headers(json));
    EXPECT_EQ(poisoned.reason, Poison::Reason::malformed_headers) << json;
    EXPECT_EQ(poisoned.event_id, "7");
    EXPECT_THAT(poisoned.what, AllOf(HasSubstr("column headers"), HasSubstr("at byte")));
  }
}

TEST_F(RawFormat, PoisonDoesNotQuoteTheHeaders) {
  EXPECT_THAT(poison(with_headers("{\"secret\": hunter2}")).what,
              AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("secret"))));
}

TEST_F(RawFormat, PoisonLeavesNothingBehindForTheNextRow) {
  EXPECT_EQ(poison(with_headers(R"({"left":"over","x":})")).reason,
            Poison::Reason::malformed_headers);
  EXPECT_THAT(headers(with_headers({})), Not(Contains("left=over")));
}

TEST_F(RawFormat, TimesThatRfc3339CantExpressArePoison) {
  for (const std::string_view time :
       {"infinity", "-infinity", "10000-01-01 00:00:00+00", "0044-03-15 12:00:00+00 BC"}) {
    const Poison poisoned = poison(with_headers({}, time));
    EXPECT_EQ(poisoned.reason, Poison::Reason::malformed_time) << time;
    EXPECT_THAT(poisoned.what, HasSubstr("column created_at"));
  }
}

}  // namespace
}  // namespace walpost::outbox
