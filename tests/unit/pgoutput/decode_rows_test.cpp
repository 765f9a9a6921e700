#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "decoded.h"
#include "golden.h"
#include "pgoutput/decode.h"

// What the rows hold is what tests/data/pgoutput/messages.sql wrote into them.
namespace {

using namespace std::string_literals;
using namespace pgoutput;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;

const golden::Scenario& scenario(const std::string& name) {
  return golden::messages().at(name);
}

Oid oid(const std::string& name) {
  return scenario("catalogue").oid_fact(name);
}

/// Built-in type identifiers, fixed in PostgreSQL's pg_type.dat.
constexpr Oid bytea_type{17};
constexpr Oid int4_type{23};
constexpr Oid text_type{25};
constexpr Oid date_type{1082};
constexpr Oid varchar_type{1043};
constexpr Oid numeric_type{1700};

auto column(bool key, std::string_view name, Oid type, std::int32_t modifier = -1) {
  return AllOf(Field("key", &Column::key, key), Field("name", &Column::name, name),
               Field("type", &Column::type, type),
               Field("type_modifier", &Column::type_modifier, modifier));
}

TEST(Relation, NamesTheTableAndItsColumns) {
  const auto relation = decoded<Relation>(scenario("insert_text").captured.at(3));
  EXPECT_EQ(relation.oid, oid("kinds"));
  EXPECT_EQ(relation.schema, "public");
  EXPECT_EQ(relation.name, "kinds");
  EXPECT_EQ(relation.xid, std::nullopt);
  const std::int32_t numeric_10_2 = ((10 << 16) | 2) + 4;  // precision, scale, header size
  EXPECT_THAT(relation.columns,
              ElementsAre(column(true, "id", int4_type), column(false, "mood", oid("mood")),
                          column(false, "amount", oid("positive")),
                          column(false, "price", numeric_type, numeric_10_2),
                          column(false, "body", text_type), column(false, "raw", bytea_type)));
}

TEST(Relation, TellsTheReplicaIdentity) {
  const auto identity = [](const std::string& name, std::size_t at) {
    return decoded<Relation>(scenario(name).captured.at(at)).replica_identity;
  };
  EXPECT_EQ(identity("update_and_delete_keyed", 1), 'd');
  EXPECT_EQ(identity("update_and_delete_whole", 1), 'f');
  EXPECT_EQ(identity("replica_identities", 1), 'n');
  EXPECT_EQ(identity("replica_identities", 3), 'i');
}

TEST(Relation, MarksAsKeyWhatIdentifiesARow) {
  const auto whole = decoded<Relation>(scenario("update_and_delete_whole").captured.at(1));
  EXPECT_THAT(whole.columns,
              ElementsAre(column(true, "id", int4_type), column(true, "note", text_type)));
  const auto keyless = decoded<Relation>(scenario("replica_identities").captured.at(1));
  EXPECT_THAT(keyless.columns, ElementsAre(column(false, "id", int4_type),
                                           column(false, "note", varchar_type, 20 + 4)));
  const auto indexed = decoded<Relation>(scenario("replica_identities").captured.at(3));
  EXPECT_THAT(indexed.columns,
              ElementsAre(column(true, "id", int4_type), column(false, "note", text_type)));
}

TEST(Relation, OfARowInAPartitionIsTheRootWhenPublishedVia) {
  ASSERT_EQ(scenario("partition_root").letters(), "BRRIC");
  const auto root = decoded<Relation>(scenario("partition_root").captured.at(1));
  EXPECT_EQ(root.oid, oid("measured"));
  EXPECT_EQ(root.name, "measured");
  EXPECT_THAT(root.columns,
              ElementsAre(column(false, "day", date_type), column(false, "degrees", int4_type)));
  const auto leaf = decoded<Relation>(scenario("partition_root").captured.at(2));
  EXPECT_EQ(leaf.name, "measured_2024");
  const auto insert = decoded<Insert>(scenario("partition_root").captured.at(3));
  EXPECT_EQ(insert.relation, oid("measured"));
  EXPECT_THAT(shown(insert.row), ElementsAre("t:2024-02-03", "t:21"));
}

TEST(Type, NamesAnEnum) {
  const auto type = decoded<Type>(scenario("insert_text").captured.at(1));
  EXPECT_EQ(type.oid, oid("mood"));
  EXPECT_EQ(type.schema, "public");
  EXPECT_EQ(type.name, "mood");
}

TEST(Type, NamesADomainsBaseTypeWithNoSchemaForPgCatalog) {
  const auto type = decoded<Type>(scenario("insert_text").captured.at(2));
  EXPECT_EQ(type.oid, oid("positive"));
  EXPECT_EQ(type.schema, "");
  EXPECT_EQ(type.name, "int4");
}

TEST(Insert, HoldsTextValues) {
  ASSERT_EQ(scenario("insert_text").letters(), "BYYRIC");
  const auto insert = decoded<Insert>(scenario("insert_text").captured.at(4));
  EXPECT_EQ(insert.relation, oid("kinds"));
  EXPECT_EQ(insert.xid, std::nullopt);
  EXPECT_THAT(shown(insert.row),
              ElementsAre("t:1", "t:happy", "t:7", "t:12.50", "t:h\xc3\xa9llo", "t:\\x00ff"));
}

TEST(Insert, TellsNullFromAnEmptyText) {
  const auto insert = decoded<Insert>(scenario("insert_nulls").captured.at(4));
  EXPECT_THAT(shown(insert.row), ElementsAre("t:2", "n", "n", "n", "t:", "n"));
}

TEST(Insert, HoldsBinaryValues) {
  const auto insert = decoded<Insert>(scenario("insert_binary").captured.at(4));
  // 1.25 as numeric_send lays it out: 2 digits to base 10000, weight 0, positive, scale 2.
  const std::string one_and_a_quarter("b:\0\2\0\0\0\0\0\2\0\1\x09\xc4", 14);
  EXPECT_THAT(shown(insert.row), ElementsAre("b:\0\0\0\3"s, "b:sad", "b:\0\0\0\10"s,
                                             one_and_a_quarter, "b:hi", "b:\0\xff"s));
}

TEST(Insert, HasUnchangedValuesWhenARowFilterMadeItOfAnUpdate) {
  ASSERT_EQ(scenario("update_turned_insert_by_a_row_filter").letters(), "BRIC");
  const auto insert =
      decoded<Insert>(scenario("update_turned_insert_by_a_row_filter").captured.at(2));
  EXPECT_THAT(shown(insert.row), ElementsAre("t:101", "u", "t:after"));
}

TEST(Update, HasNoOldRowWhileTheKeyStays) {
  ASSERT_EQ(scenario("update_and_delete_keyed").letters(), "BRIUUDC");
  const auto update = decoded<Update>(scenario("update_and_delete_keyed").captured.at(3));
  EXPECT_EQ(update.relation, oid("keyed"));
  EXPECT_FALSE(update.old);
  EXPECT_THAT(shown(update.row), ElementsAre("t:1", "t:uno"));
}

TEST(Update, HasTheOldKeyWhenItChanged) {
  const auto update = decoded<Update>(scenario("update_and_delete_keyed").captured.at(4));
  ASSERT_TRUE(update.old);
  EXPECT_EQ(update.old->kind, OldRow::Kind::key);
  EXPECT_THAT(shown(update.old->row), ElementsAre("t:1", "n"));
  EXPECT_THAT(shown(update.row), ElementsAre("t:2", "t:uno"));
}

TEST(Update, HasTheWholeOldRowUnderReplicaIdentityFull) {
  ASSERT_EQ(scenario("update_and_delete_whole").letters(), "BRIUDC");
  const auto update = decoded<Update>(scenario("update_and_delete_whole").captured.at(3));
  ASSERT_TRUE(update.old);
  EXPECT_EQ(update.old->kind, OldRow::Kind::full);
  EXPECT_THAT(shown(update.old->row), ElementsAre("t:1", "t:one"));
  EXPECT_THAT(shown(update.row), ElementsAre("t:1", "t:uno"));
}

TEST(Update, LeavesOutAnUnchangedToastedValue) {
  const auto update = decoded<Update>(scenario("unchanged_toast").captured.at(2));
  EXPECT_EQ(update.relation, oid("toasted"));
  EXPECT_THAT(shown(update.row), ElementsAre("t:1", "u", "t:after"));
}

TEST(Delete, HasTheOldKeyOrTheWholeOldRow) {
  const auto keyed = decoded<Delete>(scenario("update_and_delete_keyed").captured.at(5));
  EXPECT_EQ(keyed.relation, oid("keyed"));
  EXPECT_EQ(keyed.old.kind, OldRow::Kind::key);
  EXPECT_THAT(shown(keyed.old.row), ElementsAre("t:2", "n"));
  const auto whole = decoded<Delete>(scenario("update_and_delete_whole").captured.at(4));
  EXPECT_EQ(whole.old.kind, OldRow::Kind::full);
  EXPECT_THAT(shown(whole.old.row), ElementsAre("t:1", "t:uno"));
}

TEST(Truncate, ListsTheTablesAndOptions) {
  ASSERT_EQ(scenario("truncate").letters(), "BRTRRTC");
  const auto plain = decoded<Truncate>(scenario("truncate").captured.at(2));
  EXPECT_FALSE(plain.cascade);
  EXPECT_FALSE(plain.restart_identity);
  EXPECT_THAT(plain.relations, ElementsAre(oid("keyed")));
  const auto both = decoded<Truncate>(scenario("truncate").captured.at(5));
  EXPECT_TRUE(both.cascade);
  EXPECT_TRUE(both.restart_identity);
  EXPECT_THAT(both.relations, ElementsAre(oid("keyed"), oid("whole")));
}

// The documentation: 1 for CASCADE, 2 for RESTART IDENTITY.
TEST(Truncate, TellsItsTwoOptionsApart) {
  golden::Captured message = scenario("truncate").captured.at(2);
  constexpr std::size_t options = 5;
  message.bytes.at(options) = 1;
  EXPECT_TRUE(decoded<Truncate>(message).cascade);
  EXPECT_FALSE(decoded<Truncate>(message).restart_identity);
  message.bytes.at(options) = 2;
  EXPECT_FALSE(decoded<Truncate>(message).cascade);
  EXPECT_TRUE(decoded<Truncate>(message).restart_identity);
}

TEST(Tuple, OfNoColumnsIsEmpty) {
  const golden::Captured message{"I\0\0\0\1N\0\0"s, {}};
  const auto insert = decoded<Insert>(message);
  EXPECT_EQ(insert.row.size(), 0U);
  EXPECT_TRUE(insert.row.begin() == insert.row.end());
}

// A length above 255 and 65535 needs all of its bytes in their order.
TEST(Tuple, HoldsValuesOfAnyLength) {
  const std::string body(0x010203, 'x');
  const golden::Captured message{"I\0\0\0\1N\0\2t\0\1\2\3"s + body + "n", {}};
  EXPECT_THAT(shown(decoded<Insert>(message).row), ElementsAre("t:" + body, "n"));
}

}  // namespace
