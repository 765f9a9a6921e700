#include "walpost/outbox/mapper.h"

#include <gmock/gmock.h>

#include "unit/outbox/rows.h"

namespace walpost::outbox {
namespace {

using namespace testing;
using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Position position{pgoutput::Lsn{0x16B374D848}, 3, pgoutput::Timestamp{1}};

const std::vector<Typed> all_columns{{"id", oid::uuid},
                                     {"aggregate_type", oid::text},
                                     {"aggregate_id", oid::text},
                                     {"event_type", oid::text},
                                     {"payload", oid::jsonb},
                                     {"headers", oid::jsonb},
                                     {"created_at", oid::timestamptz}};

class MapperTest : public ::testing::Test {
 protected:
  void learn(const std::vector<Typed>& columns) { mapper_.learn(relation(columns)); }

  /// The row must outlive the event.
  Event event(const Row& row) {
    const auto mapped = mapper_.map(row.insert(), position);
    EXPECT_TRUE(std::holds_alternative<Event>(mapped));
    return std::get<Event>(mapped);
  }

  Poison poison(const Row& row) {
    const auto mapped = mapper_.map(row.insert(), position);
    EXPECT_TRUE(std::holds_alternative<Poison>(mapped));
    return std::get<Poison>(mapped);
  }

  std::string violation(const Row& row) {
    try {
      static_cast<void>(mapper_.map(row.insert(), position));
    } catch (const ProtocolViolation& error) {
      return error.what();
    }
    return "accepted";
  }

  /// Maps a row whose payload column has that type.
  std::string payload(pgoutput::Oid type, std::string_view sent) {
    learn({{"id", oid::int8}, {"aggregate_id", oid::int8}, {"payload", type}});
    const Row row{"1", "2", sent};
    return std::string(event(row).payload.value_or("(null)"));
  }

  /// Maps a row whose id and aggregate_id have that type.
  std::string key(pgoutput::Oid type, std::string_view sent) {
    learn({{"id", type}, {"aggregate_id", type}, {"payload", oid::text}});
    const Row row{sent, sent, "p"};
    const Event mapped = event(row);
    EXPECT_EQ(mapped.id, mapped.aggregate_id);
    return std::string(mapped.aggregate_id);
  }

  Mapper mapper_{MappingOptions{}};
};

TEST_F(MapperTest, EveryFieldComesFromItsColumn) {
  learn(all_columns);
  const Row row{"7", "order", "A1", "Placed", "{}", "{\"a\":1}", "2026-11-30 22:37:24+00"};
  const Event mapped = event(row);
  EXPECT_EQ(mapped.id, "7");
  EXPECT_EQ(mapped.aggregate_type, "order");
  EXPECT_EQ(mapped.aggregate_id, "A1");
  EXPECT_EQ(mapped.event_type, "Placed");
  EXPECT_EQ(mapped.payload, "{}");
  EXPECT_EQ(mapped.headers, "{\"a\":1}");
  EXPECT_EQ(mapped.created_at, "2026-11-30 22:37:24+00");
  EXPECT_EQ(mapped.columns.size(), 7u);
  EXPECT_EQ(mapped.table->qualified_name(), "app.outbox");
  EXPECT_EQ(mapped.position.commit_lsn, position.commit_lsn);
  EXPECT_EQ(mapped.position.ordinal, 3u);
}

TEST_F(MapperTest, OptionalColumnsMayBeNull) {
  learn(all_columns);
  const Row row{"7", {}, "A1", {}, "{}", {}, {}};
  const Event mapped = event(row);
  EXPECT_EQ(mapped.aggregate_type, "");
  EXPECT_EQ(mapped.event_type, "");
  EXPECT_EQ(mapped.headers, "");
  EXPECT_EQ(mapped.created_at, std::nullopt);
}

TEST_F(MapperTest, KeysAreTheTextPostgresSends) {
  EXPECT_EQ(key(oid::int8, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(key(oid::int4, "42"), "42");
  EXPECT_EQ(key(oid::int2, "7"), "7");
  EXPECT_EQ(key(oid::uuid, "0b3f8e5c-6f43-4f34-9c8e-2f9a5a1f6c11"),
            "0b3f8e5c-6f43-4f34-9c8e-2f9a5a1f6c11");
  EXPECT_EQ(key(oid::text, " spaces kept  "), " spaces kept  ");
  EXPECT_EQ(key(oid::varchar, "v  "), "v  ");
  EXPECT_EQ(key(oid::first_user_type, "enum label"), "enum label");
}

TEST_F(MapperTest, PaddingOfCharIsNotPartOfTheKey) {
  EXPECT_EQ(key(oid::bpchar, "A1    "), "A1");
  EXPECT_EQ(key(oid::bpchar, "A 1"), "A 1");
  EXPECT_EQ(key(oid::bpchar, "      "), "");
}

TEST_F(MapperTest, PaddingOfADomainOverCharIsNotPartOfTheKey) {
  mapper_.learn(pgoutput::Type{{}, oid::first_user_type, "", "bpchar"});
  EXPECT_EQ(key(oid::first_user_type, "A1    "), "A1");
}

TEST_F(MapperTest, UsersOwnTypeNamedLikeABuiltInIsNotThatType) {
  mapper_.learn(pgoutput::Type{{}, oid::first_user_type, "app", "bpchar"});
  EXPECT_EQ(key(oid::first_user_type, "A1    "), "A1    ");
}

TEST_F(MapperTest, TextPayloadsAreUntouched) {
  for (const auto type : {oid::json, oid::jsonb, oid::text, oid::varchar, oid::xml, oid::bpchar,
                          oid::first_user_type}) {
    EXPECT_EQ(payload(type, " {\"n\": 1.10} \xc3\xa9  "), " {\"n\": 1.10} \xc3\xa9  ");
    EXPECT_EQ(payload(type, ""), "");
  }
}

TEST_F(MapperTest, ByteaPayloadIsDecoded) {
  EXPECT_EQ(payload(oid::bytea, "\\x00ff61"), "\0\xff\x61"sv);
  EXPECT_EQ(payload(oid::bytea, "\\x"), "");
}

TEST_F(MapperTest, DomainOverByteaPayloadIsDecoded) {
  mapper_.learn(pgoutput::Type{{}, oid::first_user_type, "", "bytea"});
  EXPECT_EQ(payload(oid::first_user_type, "\\x61"), "a");
}

TEST_F(MapperTest, ByteaPayloadInAnotherFormThanHexIsAViolation) {
  learn({{"id", oid::int8}, {"aggregate_id", oid::int8}, {"payload", oid::bytea}});
  for (const std::string_view sent : {"a\\000", "\\x0", "\\xzz", ""}) {
    EXPECT_THAT(violation(Row{"1", "2", sent}),
                AllOf(HasSubstr("payload"), HasSubstr("app.outbox"), HasSubstr("bytea_output")));
  }
}

TEST_F(MapperTest, ByteaOutsideOfThePayloadIsTheTextPostgresSends) {
  EXPECT_EQ(key(oid::bytea, "\\x61"), "\\x61");
}

TEST_F(MapperTest, NullIdIsPoison) {
  learn(all_columns);
  const Poison poisoned = poison(Row{{}, "order", "A1", "Placed", "{}", {}, {}});
  EXPECT_EQ(poisoned.reason, Poison::Reason::no_identifier);
  EXPECT_EQ(poisoned.event_id, "");
  EXPECT_EQ(poisoned.table, "app.outbox");
  EXPECT_THAT(poisoned.what, HasSubstr("column id"));
}

TEST_F(MapperTest, NullAggregateIdIsPoisonAndEmptyIsAKey) {
  learn(all_columns);
  const Poison poisoned = poison(Row{"7", "order", {}, "Placed", "{}", {}, {}});
  EXPECT_EQ(poisoned.reason, Poison::Reason::no_key);
  EXPECT_EQ(poisoned.event_id, "7");
  EXPECT_THAT(poisoned.what, HasSubstr("column aggregate_id"));
  const Row empty_key{"7", "order", "", "Placed", "{}", {}, {}};
  EXPECT_EQ(event(empty_key).aggregate_id, "");
}

TEST_F(MapperTest, NullPayloadIsPoison) {
  learn(all_columns);
  const Poison poisoned = poison(Row{"7", "order", "A1", "Placed", {}, {}, {}});
  EXPECT_EQ(poisoned.reason, Poison::Reason::no_payload);
  EXPECT_THAT(poisoned.what, HasSubstr("column payload"));
}

TEST(MapperTombstones, NullPayloadIsATombstoneWhenAskedFor) {
  Mapper mapper({{}, true});
  mapper.learn(relation(all_columns));
  const Row row{"7", "order", "A1", "Placed", {}, {}, {}};
  const auto mapped = mapper.map(row.insert(), position);
  ASSERT_TRUE(std::holds_alternative<Event>(mapped));
  EXPECT_EQ(std::get<Event>(mapped).payload, std::nullopt);
}

TEST_F(MapperTest, ValuesThatAnInsertCantCarryAreViolations) {
  learn({{"id", oid::int8}, {"aggregate_id", oid::int8}, {"payload", oid::text}, {"x", oid::text}});
  EXPECT_THAT(violation(Row{"1", "2", "p"}.add_bare('u')),
              AllOf(HasSubstr("column x"), HasSubstr("app.outbox"), HasSubstr("unchanged")));
  EXPECT_THAT(violation(Row{"1", "2", "p"}.add('b', "x")), HasSubstr("binary"));
  EXPECT_THAT(violation(Row{"1", "2", "p"}.add_bare('?')), HasSubstr("unknown"));
}

TEST_F(MapperTest, RowsOfAnotherWidthThanDescribedAreViolations) {
  learn({{"id", oid::int8}, {"aggregate_id", oid::int8}, {"payload", oid::text}});
  EXPECT_THAT(violation(Row{"1", "2"}), HasSubstr("2 columns"));
  EXPECT_THAT(violation(Row{"1", "2", "3", "4"}), HasSubstr("4 columns"));
  EXPECT_THAT(violation(Row{}), HasSubstr("0 columns"));
}

TEST_F(MapperTest, RowsOfAnUndescribedTableAreViolations) {
  EXPECT_THAT(violation(Row{"1"}), HasSubstr("oid 5000"));
}

TEST_F(MapperTest, TablesOfDifferentShapeAreToldApartByOid) {
  mapper_.learn(relation(all_columns));
  mapper_.learn(relation({{"id", oid::int8},
                          {"aggregatetype", oid::text},
                          {"aggregateid", oid::text},
                          {"type", oid::text},
                          {"payload", oid::bytea}},
                         "other", pgoutput::Oid{6000}));
  const Row standard{"7", "order", "A1", "Placed", "{}", {}, {}};
  const Row debezium{"8", "user", "B2", "Created", "\\x61"};
  EXPECT_EQ(event(standard).table->index(), 0);
  const auto mapped = std::get<Event>(mapper_.map(debezium.insert(pgoutput::Oid{6000}), position));
  EXPECT_EQ(mapped.table->qualified_name(), "app.other");
  EXPECT_EQ(mapped.table->index(), 1);
  EXPECT_EQ(mapped.payload, "a");
  EXPECT_EQ(mapper_.table_name(0), "app.outbox");
  EXPECT_EQ(mapper_.table_name(1), "app.other");
}

TEST_F(MapperTest, RepeatedRelationKeepsItsMapping) {
  learn(all_columns);
  const Row row{"7", "order", "A1", "Placed", "{}", {}, {}};
  const auto generation = event(row).table->generation();
  learn(all_columns);
  EXPECT_EQ(event(row).table->generation(), generation);
}

TEST_F(MapperTest, AlteredRelationIsLearntAnew) {
  learn({{"id", oid::int8}, {"aggregate_id", oid::text}, {"payload", oid::text}});
  const Row before{"1", "A1", "p"};
  const auto generation = event(before).table->generation();
  learn({{"note", oid::text},
         {"payload", oid::bytea},
         {"id", oid::int8},
         {"aggregate_id", oid::text}});
  const Row after{"n", "\\x61", "2", "A2"};
  const Event mapped = event(after);
  EXPECT_EQ(mapped.id, "2");
  EXPECT_EQ(mapped.aggregate_id, "A2");
  EXPECT_EQ(mapped.payload, "a");
  EXPECT_NE(mapped.table->generation(), generation);
  EXPECT_EQ(mapped.table->index(), 0);
}

TEST_F(MapperTest, TypeChangeAloneIsLearntAnew) {
  EXPECT_EQ(payload(oid::bytea, "\\x61"), "a");
  EXPECT_EQ(payload(oid::text, "\\x61"), "\\x61");
}

TEST_F(MapperTest, LosingARequiredColumnNamesItAndForgetsTheTable) {
  learn({{"id", oid::int8}, {"aggregate_id", oid::text}, {"payload", oid::text}});
  try {
    learn({{"id", oid::int8}, {"aggregate_id", oid::text}, {"body", oid::text}});
    FAIL() << "accepted";
  } catch (const UnmappableTable& error) {
    EXPECT_THAT(error.what(), HasSubstr("dropped since: payload (used as payload)"));
    EXPECT_THAT(error.mend(), HasSubstr("outbox.columns.payload"));
  }
  EXPECT_THAT(violation(Row{"1", "A1", "p"}), HasSubstr("without describing"));
}

TEST_F(MapperTest, ForgetDropsTablesButNotTheirNames) {
  learn(all_columns);
  mapper_.forget();
  EXPECT_THAT(violation(Row{"7", "order", "A1", "Placed", "{}", {}, {}}),
              HasSubstr("without describing"));
  EXPECT_EQ(mapper_.table_name(0), "app.outbox");
}

TEST_F(MapperTest, ForgetDropsTypes) {
  mapper_.learn(pgoutput::Type{{}, oid::first_user_type, "", "bpchar"});
  mapper_.forget();
  EXPECT_EQ(key(oid::first_user_type, "A1    "), "A1    ");
}

TEST_F(MapperTest, TablesBeyond255ShareTheLastIndex) {
  for (std::uint32_t i = 0; i < 257; ++i) {
    const std::string name = "t" + std::to_string(i);
    mapper_.learn(relation(all_columns, name, pgoutput::Oid{7000 + i}));
    const Row row{"7", "order", "A1", "Placed", "{}", {}, {}};
    const auto mapped = std::get<Event>(mapper_.map(row.insert(pgoutput::Oid{7000 + i}), position));
    EXPECT_EQ(mapped.table->index(), std::min(i, 255u));
    EXPECT_EQ(mapped.table->qualified_name(), "app." + name);
  }
  EXPECT_EQ(mapper_.table_name(254), "app.t254");
  EXPECT_THAT(mapper_.table_name(255), HasSubstr("beyond"));
}

}  // namespace
}  // namespace walpost::outbox
