#include "outbox/template.h"

#include <gmock/gmock.h>

#include "unit/outbox/rows.h"

namespace walpost::outbox {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

const TableMapping table(shape({{"id", oid::uuid},
                                {"aggregatetype", oid::text},
                                {"aggregateid", oid::text},
                                {"type", oid::text},
                                {"payload", oid::jsonb},
                                {"region", oid::text},
                                {"table", oid::text}}),
                         {}, 0);
const std::vector<Text> row{"7", "order", "A1", "Placed", "{}", "eu", "t"};

Rendered rendered(std::string_view text, const std::vector<Text>& values = row) {
  static std::string scratch;
  return render(bind(parse_template("route.topic", text), table), values, scratch);
}

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(bind(parse_template("route.topic", text), table));
  } catch (const TemplateError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Template, LiteralStandsForItself) {
  EXPECT_EQ(rendered("orders").text, "orders");
}

TEST(Template, EmptyTemplateIsEmptyText) {
  EXPECT_EQ(rendered("").text, "");
}

TEST(Template, FieldIsTheColumnMappedToIt) {
  EXPECT_EQ(rendered("{aggregate_type}").text, "order");
  EXPECT_EQ(rendered("{event_type}").text, "Placed");
  EXPECT_EQ(rendered("{id}").text, "7");
}

TEST(Template, ColumnIsFoundByItsOwnName) {
  EXPECT_EQ(rendered("{aggregatetype}.{region}").text, "order.eu");
}

TEST(Template, TableAndSchemaAreTheTablesOwnEvenIfAColumnHasTheName) {
  EXPECT_EQ(rendered("{schema}.{table}").text, "app.outbox");
}

TEST(Template, LiteralsSurroundValues) {
  EXPECT_EQ(rendered("a{region}b{id}c{table}d").text, "aeub7coutboxd");
}

TEST(Template, DoubledBracesAreLiteral) {
  EXPECT_EQ(rendered("{{{region}}}").text, "{eu}");
  EXPECT_EQ(rendered("{{region}}").text, "{region}");
}

TEST(Template, NullValueMakesTheWholeNullAndNamesTheColumn) {
  std::vector<Text> values = row;
  values[5] = std::nullopt;
  for (const std::string_view text : {"{region}", "a.{region}", "{id}.{region}.b"}) {
    const Rendered result = rendered(text, values);
    EXPECT_EQ(result.text, std::nullopt) << text;
    EXPECT_EQ(result.null_column, 5u) << text;
  }
}

TEST(Template, EmptyValueIsNotNull) {
  std::vector<Text> values = row;
  values[5] = "";
  EXPECT_EQ(rendered("{region}", values).text, "");
}

TEST(Template, ParseErrorsNameTheSettingAndThePosition) {
  EXPECT_THAT(refusal("ab{id"), AllOf(HasSubstr("route.topic"), HasSubstr("character 3")));
  EXPECT_THAT(refusal("ab{i{d}"), HasSubstr("character 3"));
  EXPECT_THAT(refusal("ab}"), AllOf(HasSubstr("closes nothing"), HasSubstr("character 3")));
  EXPECT_THAT(refusal("{}"), AllOf(HasSubstr("names nothing"), HasSubstr("character 1")));
  EXPECT_THAT(refusal("{id}}"), HasSubstr("character 5"));
  EXPECT_THAT(refusal("{"), HasSubstr("character 1"));
}

TEST(Template, UnknownNameIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal("{regoin}"),
              AllOf(HasSubstr("{regoin}"), HasSubstr("did you mean {region}"),
                    HasSubstr("app.outbox"), HasSubstr("aggregatetype, aggregateid")));
}

TEST(Template, UnmappedFieldIsRefusedWithTheSettingThatMapsIt) {
  EXPECT_THAT(refusal("{created_at}"), HasSubstr("outbox.columns.created_at"));
}

TEST(Template, OnlyTextWithoutNamesIsLiteral) {
  EXPECT_EQ(literal_text(parse_template("t", "a{{b")), "a{b");
  EXPECT_EQ(literal_text(parse_template("t", "a{id}")), std::nullopt);
}

}  // namespace
}  // namespace walpost::outbox
