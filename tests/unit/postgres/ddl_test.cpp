#include "postgres/ddl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "walpost/postgres/setup.h"
#include "walpost/relay/failure.h"

namespace walpost::postgres {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Ddl, StandardOutboxHasTheColumnsThatTheMapperRecognises) {
  const std::string sql = outbox_ddl(OutboxPreset::standard, "shop.outbox");
  EXPECT_THAT(sql, StartsWith("CREATE TABLE \"shop\".\"outbox\" (\n"));
  EXPECT_THAT(sql, EndsWith(");\n"));
  for (const char* column : {"id ", "aggregate_type ", "aggregate_id ", "event_type ", "payload ",
                             "headers ", "created_at "}) {
    EXPECT_THAT(sql, HasSubstr(std::string("\n  ") + column));
  }
}

TEST(Ddl, DebeziumOutboxHasTheColumnsOfItsOutboxEventRouter) {
  const std::string sql = outbox_ddl(OutboxPreset::debezium, "outboxevent");
  EXPECT_THAT(sql, StartsWith("CREATE TABLE \"outboxevent\" (\n"));
  for (const char* column : {"id ", "aggregatetype ", "aggregateid ", "type ", "payload "}) {
    EXPECT_THAT(sql, HasSubstr(std::string("\n  ") + column));
  }
}

TEST(Ddl, OutboxOfNoTablesNameIsRefused) {
  EXPECT_THROW(static_cast<void>(outbox_ddl(OutboxPreset::standard, "a;b")), relay::SessionFailure);
}

TEST(Ddl, PublicationIsOfInsertsOnlyUnderTheTablesOwnName) {
  EXPECT_EQ(publication_ddl("walpost", {{"public", "outbox"}, {"", "b"}}),
            "CREATE PUBLICATION \"walpost\" FOR TABLE \"public\".\"outbox\", \"b\" WITH (publish = "
            "'insert', publish_via_partition_root = true);");
}

TEST(Ddl, SlotIsOfPgoutput) {
  EXPECT_EQ(slot_ddl("it's"),
            "SELECT pg_catalog.pg_create_logical_replication_slot('it''s', 'pgoutput');");
}

}  // namespace
}  // namespace walpost::postgres
