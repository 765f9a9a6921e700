#include "walpost/outbox/router.h"

#include "unit/outbox/routing.h"

namespace walpost::outbox {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RouterTest : public Routing {
 protected:
  RouterTest() { learn(all_columns); }
};

Row order(const Text& type = "order", const Text& event = "Placed", const Text& key = "A1") {
  return {"7", type, key, event, "{\"n\": 1.10}", {}, {}};
}

std::string refusal(RouteOptions options) {
  try {
    const Router router(std::move(options));
  } catch (const TemplateError& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(const Router& router, const TableMapping& mapping) {
  try {
    router.verify(mapping);
  } catch (const TemplateError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_F(RouterTest, DefaultsGiveTopicByAggregateTypeAndKeyByAggregateId) {
  const Record routed = record(order());
  EXPECT_EQ(routed.topic, "outbox.event.order");
  EXPECT_EQ(routed.key, "A1");
  EXPECT_EQ(routed.value, "{\"n\": 1.10}");
}

TEST_F(RouterTest, EmptyKeyIsAKey) {
  EXPECT_EQ(record(order("order", "Placed", "")).key, "");
}

TEST_F(RouterTest, NullPayloadIsATombstone) {
  EXPECT_EQ(record(Row{"7", "order", "A1", "Placed", {}, {}, {}}).value, std::nullopt);
}

TEST_F(RouterTest, EventTypeChoosesATopicBeforeTheTemplate) {
  use({.topics = {{"Placed", "orders"}}});
  EXPECT_EQ(record(order("order", "Placed")).topic, "orders");
  EXPECT_EQ(record(order("order", "Paid")).topic, "outbox.event.order");
  EXPECT_EQ(record(order("order", std::nullopt)).topic, "outbox.event.order");
}

TEST_F(RouterTest, EventTypeChoosesATopicEvenWhereTheTemplateHasNone) {
  use({.topics = {{"Placed", "orders"}}});
  EXPECT_EQ(record(order(std::nullopt, "Placed")).topic, "orders");
}

TEST_F(RouterTest, NullInTheTopicIsPoison) {
  const Poison poisoned = poison(order(std::nullopt));
  EXPECT_EQ(poisoned.reason, Poison::Reason::no_topic);
  EXPECT_EQ(poisoned.event_id, "7");
  EXPECT_EQ(poisoned.table, "app.outbox");
  EXPECT_THAT(poisoned.what, HasSubstr("column aggregate_type"));
}

TEST_F(RouterTest, IllegalTopicIsPoisonNamingTheRuleAndNotTheValue) {
  for (const std::string& type : {std::string("secret stuff"), std::string("a/b"),
                                  std::string(249, 'x'), std::string("\xc3\xa9")}) {
    const Poison poisoned = poison(order(type));
    EXPECT_EQ(poisoned.reason, Poison::Reason::no_topic);
    EXPECT_THAT(poisoned.what,
                AllOf(HasSubstr("app.outbox"), HasSubstr("249"), Not(HasSubstr(type))));
  }
}

TEST_F(RouterTest, EmptyTopicIsPoison) {
  use({.topic = "{aggregate_type}"});
  EXPECT_EQ(poison(order("")).reason, Poison::Reason::no_topic);
  EXPECT_EQ(poison(order("..")).reason, Poison::Reason::no_topic);
  EXPECT_EQ(record(order("...")).topic, "...");
}

TEST_F(RouterTest, KeyIsWhatItsTemplateGives) {
  use({.key = "{aggregate_type}:{aggregate_id}"});
  EXPECT_EQ(record(order()).key, "order:A1");
}

TEST_F(RouterTest, NullInTheKeyIsPoison) {
  use({.key = "{event_type}"});
  const Poison poisoned = poison(order("order", std::nullopt));
  EXPECT_EQ(poisoned.reason, Poison::Reason::no_key);
  EXPECT_THAT(poisoned.what, HasSubstr("column event_type"));
}

TEST_F(RouterTest, OfWhatCannotBePublishedEachPartThatCanBeMadeIsKept) {
  learn(all_columns);
  const Row row{"7", "a b", "k", "Placed", std::nullopt, "[1]", "infinity"};
  const Event event = mapper_.remains(row.insert(), position_);
  const Remains remains = router_->salvage(event);
  EXPECT_EQ(remains.topic, std::nullopt);
  EXPECT_EQ(remains.key, "k");
  EXPECT_EQ(remains.value, std::nullopt);
  EXPECT_EQ(remains.row_headers, "[1]");
  std::vector<std::string> names;
  for (const Header& header : remains.headers) names.emplace_back(header.name);
  EXPECT_EQ(names, (std::vector<std::string>{"messageId", "eventType", "aggregateType",
                                             "walpost-position"}));
}

TEST_F(RouterTest, WhatLacksItsIdAndKeyStillHasItsPayload) {
  learn(all_columns);
  const Row row{std::nullopt, "order", std::nullopt, "Placed", "{}", R"({"t": "1"})", std::nullopt};
  const Event event = mapper_.remains(row.insert(), position_);
  EXPECT_EQ(event.id, "");
  const Remains remains = router_->salvage(event);
  EXPECT_EQ(remains.topic, "outbox.event.order");
  EXPECT_EQ(remains.key, std::nullopt);
  EXPECT_EQ(remains.value, "{}");
  EXPECT_EQ(remains.row_headers, "");
  ASSERT_EQ(remains.headers.size(), 4u);
  EXPECT_EQ(remains.headers[0].name, "t");
  EXPECT_EQ(remains.headers[1].name, "eventType");
}

TEST_F(RouterTest, AlteredTableIsRoutedByItsNewColumns) {
  EXPECT_EQ(record(order("order")).topic, "outbox.event.order");
  learn({{"aggregate_type", oid::text},
         {"id", oid::uuid},
         {"aggregate_id", oid::text},
         {"payload", oid::text}});
  EXPECT_EQ(record(Row{"user", "7", "A1", "p"}).topic, "outbox.event.user");
}

TEST_F(RouterTest, TableLearntAgainAfterForgetIsRoutedByItsNewColumns) {
  EXPECT_EQ(record(order("order")).topic, "outbox.event.order");
  mapper_.forget();
  learn({{"aggregate_id", oid::text},
         {"id", oid::uuid},
         {"aggregate_type", oid::text},
         {"payload", oid::text}});
  const Record routed = record(Row{"A1", "7", "user", "p"});
  EXPECT_EQ(routed.topic, "outbox.event.user");
  EXPECT_EQ(routed.key, "A1");
}

TEST_F(RouterTest, AlteredTableWithoutATemplatesColumnIsRefused) {
  EXPECT_EQ(record(order()).topic, "outbox.event.order");
  learn({{"id", oid::uuid}, {"aggregate_id", oid::text}, {"payload", oid::text}});
  EXPECT_THROW(static_cast<void>(route(Row{"7", "A1", "p"})), TemplateError);
  EXPECT_THROW(static_cast<void>(route(Row{"7", "A1", "p"})), TemplateError);
}

TEST_F(RouterTest, TablesOfDifferentShapeKeepTheirOwnRoutes) {
  mapper_.learn(relation({{"aggregateid", oid::text},
                          {"aggregatetype", oid::text},
                          {"id", oid::int8},
                          {"payload", oid::text}},
                         "other", pgoutput::Oid{6000}));
  const Row other{"B2", "user", "8", "p"};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(record(order()).key, "A1");
    const auto mapped = mapper_.map(other.insert(pgoutput::Oid{6000}), position_);
    const auto routed = std::get<Record>(router_->route(std::get<Event>(mapped)));
    EXPECT_EQ(routed.topic, "outbox.event.user");
    EXPECT_EQ(routed.key, "B2");
  }
}

TEST(RouterOptions, MalformedTemplatesAreRefusedAtOnce) {
  EXPECT_THAT(refusal({.topic = "a{"}), HasSubstr("route.topic"));
  EXPECT_THAT(refusal({.key = "}"}), HasSubstr("route.key"));
  EXPECT_THAT(refusal({.headers = {{"x", "{}"}}}), HasSubstr("route.headers.x"));
  EXPECT_THAT(refusal({.headers = {{"", "v"}}}), HasSubstr("name"));
}

TEST(RouterOptions, TopicsThatKafkaWouldRefuseAreRefusedAtOnce) {
  EXPECT_THAT(refusal({.topic = ""}), HasSubstr("route.topic"));
  EXPECT_THAT(refusal({.topic = ".."}), HasSubstr("route.topic"));
  EXPECT_THAT(refusal({.topic = "a b"}), HasSubstr("\"a b\""));
  EXPECT_THAT(refusal({.topic = "events/{aggregate_type}"}), HasSubstr("\"events/\""));
  EXPECT_THAT(refusal({.topics = {{"Placed", "a b"}}}), HasSubstr("route.topics.Placed"));
}

TEST(RouterKnownTopics, AreTheListedOnesAndALiteralTemplate) {
  EXPECT_THAT(Router({.topics = {{"A", "x"}, {"B", "y"}, {"C", "x"}}}).known_topics(),
              ElementsAre("x", "y"));
  EXPECT_THAT(Router({.topic = "all", .topics = {{"A", "x"}}}).known_topics(),
              ElementsAre("all", "x"));
  EXPECT_THAT(Router({}).known_topics(), IsEmpty());
}

TEST(RouterVerify, EveryTemplateMustFindItsColumns) {
  const TableMapping mapping(
      shape({{"id", oid::uuid}, {"aggregate_id", oid::text}, {"payload", oid::jsonb}}), {}, 0);
  EXPECT_THAT(refusal(Router({}), mapping),
              AllOf(HasSubstr("route.topic"), HasSubstr("outbox.columns.aggregate_type")));
  EXPECT_EQ(refusal(Router({.topic = "all"}), mapping), "accepted");
  EXPECT_THAT(refusal(Router({.topic = "all", .key = "{customer}"}), mapping),
              AllOf(HasSubstr("route.key"), HasSubstr("{customer}")));
  EXPECT_THAT(refusal(Router({.topic = "all", .headers = {{"x", "{customer}"}}}), mapping),
              HasSubstr("route.headers.x"));
}

TEST(RouterVerify, TopicsByEventTypeNeedAnEventType) {
  const TableMapping mapping(
      shape({{"id", oid::uuid}, {"aggregate_id", oid::text}, {"payload", oid::jsonb}}), {}, 0);
  EXPECT_THAT(refusal(Router({.topic = "all", .topics = {{"A", "x"}}}), mapping),
              AllOf(HasSubstr("route.topics"), HasSubstr("outbox.columns.event_type")));
}

}  // namespace
}  // namespace walpost::outbox
