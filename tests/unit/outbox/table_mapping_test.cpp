#include <gmock/gmock.h>

#include "unit/outbox/rows.h"
#include "walpost/outbox/mapper.h"

namespace walpost::outbox {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

TableMapping mapped(const std::vector<Typed>& columns, const MappingOptions& options = {}) {
  return {shape(columns), options, 0};
}

/// What and mend of the refusal.
std::string refusal(const std::vector<Typed>& columns, const MappingOptions& options = {}) {
  try {
    static_cast<void>(mapped(columns, options));
  } catch (const UnmappableTable& error) {
    EXPECT_EQ(error.table(), "app.outbox");
    return std::string(error.what()) + " | " + error.mend();
  }
  return "accepted";
}

std::string_view column_of(const TableMapping& mapping, Field field) {
  const auto position = mapping.position(field);
  return position ? std::string_view(mapping.shape().columns[*position].name) : "-";
}

const std::vector<Typed> minimal{
    {"id", oid::uuid}, {"aggregate_id", oid::text}, {"payload", oid::jsonb}};

std::vector<Typed> minimal_and(std::initializer_list<Typed> more) {
  std::vector<Typed> columns = minimal;
  columns.insert(columns.end(), more);
  return columns;
}

TEST(TableMapping, StandardSetIsRecognisedInAnyOrder) {
  const auto mapping = mapped({{"payload", oid::jsonb},
                               {"created_at", oid::timestamptz},
                               {"headers", oid::jsonb},
                               {"event_type", oid::text},
                               {"something_else", oid::text},
                               {"aggregate_id", oid::text},
                               {"aggregate_type", oid::text},
                               {"id", oid::uuid}});
  EXPECT_EQ(mapping.position(Field::id), 7u);
  EXPECT_EQ(mapping.position(Field::aggregate_type), 6u);
  EXPECT_EQ(mapping.position(Field::aggregate_id), 5u);
  EXPECT_EQ(mapping.position(Field::event_type), 3u);
  EXPECT_EQ(mapping.position(Field::payload), 0u);
  EXPECT_EQ(mapping.position(Field::headers), 2u);
  EXPECT_EQ(mapping.position(Field::created_at), 1u);
}

TEST(TableMapping, DebeziumSetIsRecognised) {
  const auto mapping = mapped({{"id", oid::uuid},
                               {"aggregatetype", oid::varchar},
                               {"aggregateid", oid::varchar},
                               {"type", oid::varchar},
                               {"payload", oid::jsonb}});
  EXPECT_EQ(column_of(mapping, Field::aggregate_type), "aggregatetype");
  EXPECT_EQ(column_of(mapping, Field::aggregate_id), "aggregateid");
  EXPECT_EQ(column_of(mapping, Field::event_type), "type");
  EXPECT_EQ(column_of(mapping, Field::headers), "-");
}

TEST(TableMapping, SideEffectSetIsRecognisedWithItsIdAsTheId) {
  const auto mapping = mapped({{"id", oid::int8},
                               {"aggregate_id", oid::text},
                               {"effect_type", oid::text},
                               {"payload", oid::jsonb},
                               {"idempotency_key", oid::uuid}});
  EXPECT_EQ(column_of(mapping, Field::id), "id");
  EXPECT_EQ(column_of(mapping, Field::event_type), "effect_type");
  EXPECT_EQ(column_of(mapping, Field::aggregate_type), "-");
}

TEST(TableMapping, IdKeyAndPayloadAreEnough) {
  const auto mapping = mapped(minimal);
  EXPECT_EQ(column_of(mapping, Field::event_type), "-");
  EXPECT_EQ(column_of(mapping, Field::created_at), "-");
}

TEST(TableMapping, EventTypeIsPreferredToALessFittingSet) {
  const auto mapping = mapped(minimal_and({{"effect_type", oid::text}, {"event_type", oid::text}}));
  EXPECT_EQ(column_of(mapping, Field::event_type), "event_type");
}

TEST(TableMapping, UnrecognisedTableListsWhatWasFoundAndWhatToMap) {
  EXPECT_THAT(refusal({{"id", oid::uuid}, {"body", oid::jsonb}, {"customer", oid::text}}),
              AllOf(HasSubstr("aggregate_id, payload"), HasSubstr("id, body, customer"),
                    HasSubstr("outbox.columns.aggregate_id"), HasSubstr("outbox.columns.payload"),
                    HasSubstr("\"app\".\"outbox\"")));
}

TEST(TableMapping, OverrideReplacesWhatWouldBeRecognised) {
  const auto mapping = mapped(minimal_and({{"body", oid::text}}), {{{"payload", "body"}}, false});
  EXPECT_EQ(column_of(mapping, Field::payload), "body");
}

TEST(TableMapping, OverrideCompletesASet) {
  const auto mapping = mapped({{"id", oid::uuid}, {"customer", oid::text}, {"payload", oid::jsonb}},
                              {{{"aggregate_id", "customer"}}, false});
  EXPECT_EQ(column_of(mapping, Field::aggregate_id), "customer");
}

TEST(TableMapping, EmptyOverrideLeavesAnOptionalFieldUnused) {
  const auto mapping =
      mapped(minimal_and({{"created_at", oid::text}}), {{{"created_at", ""}}, false});
  EXPECT_EQ(column_of(mapping, Field::created_at), "-");
}

TEST(TableMapping, EmptyOverrideOfARequiredFieldIsRefused) {
  EXPECT_THAT(refusal(minimal, {{{"payload", ""}}, false}), HasSubstr("outbox.columns.payload"));
}

TEST(TableMapping, OverrideOfAnUnknownFieldIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal(minimal, {{{"payloda", "payload"}}, false}),
              AllOf(HasSubstr("payloda"), HasSubstr("did you mean payload?")));
}

TEST(TableMapping, OverrideToAMissingColumnIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal(minimal, {{{"payload", "pay_load"}}, false}),
              AllOf(HasSubstr("outbox.columns.payload"), HasSubstr("did you mean payload?"),
                    HasSubstr("id, aggregate_id, payload")));
}

TEST(TableMapping, HeadersMustBeJsonOrText) {
  for (const auto type : {oid::json, oid::jsonb, oid::text, oid::varchar, oid::bpchar}) {
    EXPECT_EQ(refusal(minimal_and({{"headers", type}})), "accepted");
  }
  for (const auto type : {oid::bytea, oid::int8, oid::xml, oid::first_user_type}) {
    EXPECT_THAT(refusal(minimal_and({{"headers", type}})),
                AllOf(HasSubstr("used as headers"), HasSubstr("outbox.columns.headers")));
  }
}

TEST(TableMapping, CreatedAtMustBeATimestamp) {
  for (const auto type : {oid::timestamp, oid::timestamptz}) {
    EXPECT_EQ(refusal(minimal_and({{"created_at", type}})), "accepted");
  }
  for (const auto type : {oid::text, oid::int8, oid::date}) {
    EXPECT_THAT(refusal(minimal_and({{"created_at", type}})),
                AllOf(HasSubstr("used as created_at"),
                      HasSubstr("alter table \"app\".\"outbox\" alter column \"created_at\"")));
  }
}

TEST(TableMapping, IdentifiersInAMendAreQuoted) {
  EXPECT_THAT(
      refusal(minimal_and({{"made \"at\"", oid::text}}), {{{"created_at", "made \"at\""}}, false}),
      HasSubstr("alter column \"made \"\"at\"\"\""));
}

TEST(TableMapping, NoTwoMappingsShareAGeneration) {
  EXPECT_NE(mapped(minimal).generation(), mapped(minimal).generation());
}

TEST(TableMapping, FieldNamesAreReadBack) {
  for (std::size_t i = 0; i < field_count; ++i) {
    EXPECT_EQ(field_named(field_name(static_cast<Field>(i))), static_cast<Field>(i));
  }
  EXPECT_EQ(field_named("aggregateid"), std::nullopt);
}

}  // namespace
}  // namespace walpost::outbox
