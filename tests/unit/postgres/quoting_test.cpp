#include "postgres/quoting.h"

#include <gtest/gtest.h>

#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

TEST(Quoting, IdentifiersAreAlwaysQuotedAndInnerQuotesDoubled) {
  EXPECT_EQ(quote_identifier("walpost"), "\"walpost\"");
  EXPECT_EQ(quote_identifier("Order"), "\"Order\"");
  EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
}

TEST(Quoting, LiteralsDoubleQuotes) {
  EXPECT_EQ(quote_literal("o'clock"), "'o''clock'");
}

TEST(Quoting, LiteralsWithBackslashDontDependOnStandardConformingStrings) {
  EXPECT_EQ(quote_literal("a\\'b"), "E'a\\\\''b'");
}

TEST(Quoting, ReplicationLiteralsKnowNoBackslashEscape) {
  EXPECT_EQ(quote_replication_literal("\"a\\b'c\""), "'\"a\\b''c\"'");
}

TEST(Quoting, IdentifiersMayHoldAnyOtherByte) {
  EXPECT_EQ(quote_identifier("a.b; drop \n\xC3\xA9"), "\"a.b; drop \n\xC3\xA9\"");
}

struct Name {
  const char* text;
  const char* schema;
  const char* table;
  const char* sql;
};

class TableNames : public testing::TestWithParam<Name> {};

// Folding as in the documentation's chapter "Identifiers and Key Words".
TEST_P(TableNames, AreReadAsPostgresReadsThem) {
  const TableReference table = parse_table(GetParam().text);
  EXPECT_EQ(table.schema, GetParam().schema);
  EXPECT_EQ(table.table, GetParam().table);
  EXPECT_EQ(table.sql(), GetParam().sql);
}

INSTANTIATE_TEST_SUITE_P(
    Valid, TableNames,
    testing::Values(Name{"outbox", "", "outbox", "\"outbox\""},
                    Name{"Shop.Outbox", "shop", "outbox", "\"shop\".\"outbox\""},
                    Name{"\"My Shop\".\"Out\"\"box\"", "My Shop", "Out\"box",
                         "\"My Shop\".\"Out\"\"box\""},
                    Name{"\"a.b\"", "", "a.b", "\"a.b\""}, Name{"_x$1", "", "_x$1", "\"_x$1\""},
                    Name{"\xC3\x89t", "", "\xC3\x89t", "\"\xC3\x89t\""}));

class NoTableNames : public testing::TestWithParam<const char*> {};

TEST_P(NoTableNames, AreRefused) {
  EXPECT_THROW(static_cast<void>(parse_table(GetParam())), relay::SessionFailure);
}

INSTANTIATE_TEST_SUITE_P(Invalid, NoTableNames,
                         testing::Values("", ".", "a.", ".a", "a.b.c", "a b", "1a", "\"a", "\"\"",
                                         "a;drop table b", "a\"b\"", "a-b", "a.b "));

}  // namespace
}  // namespace walpost::postgres
