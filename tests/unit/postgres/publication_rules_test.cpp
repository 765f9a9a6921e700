#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "postgres/preflight.h"

namespace walpost::postgres {
namespace {

using relay::Finding;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Oids of pg_type.dat.
constexpr pgoutput::Oid text{25};
constexpr pgoutput::Oid uuid{2950};
constexpr pgoutput::Oid jsonb{3802};
constexpr pgoutput::Oid int4{23};

TableFacts outbox_table(const std::string& table = "outbox") {
  TableFacts facts;
  facts.schema = "public";
  facts.table = table;
  facts.columns = {{"id", uuid},         {"aggregate_type", text}, {"aggregate_id", text},
                   {"event_type", text}, {"payload", jsonb},       {"headers", jsonb}};
  return facts;
}

TableFacts foreign_table(const std::string& table) {
  TableFacts facts;
  facts.schema = "public";
  facts.table = table;
  facts.columns = {{"a", int4}};
  return facts;
}

PublicationFacts good() {
  PublicationFacts publication;
  publication.via_root = true;
  publication.tables = {outbox_table()};
  return publication;
}

class PublicationRulesTest : public testing::Test {
 protected:
  Findings findings_of(const std::optional<PublicationFacts>& publication) {
    const outbox::Router router{route};
    Findings findings;
    check_publication(publication, Options{}, {mapping, router}, findings);
    return findings;
  }

  Finding only_finding(const PublicationFacts& publication, Finding::Level level) {
    const Findings findings = findings_of(publication);
    EXPECT_EQ(findings.size(), 1u);
    if (findings.empty()) return {};
    EXPECT_EQ(findings.front().level, level);
    return findings.front();
  }

  outbox::MappingOptions mapping;
  outbox::RouteOptions route;
};

using Level = Finding::Level;

TEST_F(PublicationRulesTest, OutboxTableOfInsertsPasses) {
  EXPECT_THAT(only_finding(good(), Level::pass).what, HasSubstr("1 outbox table"));
}

TEST_F(PublicationRulesTest, MissingPublicationFails) {
  const Findings findings = findings_of(std::nullopt);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().level, Level::fail);
  EXPECT_THAT(findings.front().mend, HasSubstr("walpost init"));
}

TEST_F(PublicationRulesTest, WithoutInsertsFails) {
  PublicationFacts publication = good();
  publication.inserts = false;
  EXPECT_EQ(only_finding(publication, Level::fail).mend,
            "ALTER PUBLICATION \"walpost\" SET (publish = 'insert')");
}

TEST_F(PublicationRulesTest, MoreThanInsertsWarns) {
  PublicationFacts publication = good();
  publication.others = true;
  EXPECT_EQ(only_finding(publication, Level::warn).mend,
            "ALTER PUBLICATION \"walpost\" SET (publish = 'insert')");
}

TEST_F(PublicationRulesTest, WithoutTablesFails) {
  PublicationFacts publication = good();
  publication.tables.clear();
  EXPECT_THAT(only_finding(publication, Level::fail).what, HasSubstr("no table"));
}

TEST_F(PublicationRulesTest, UnloggedTableFails) {
  PublicationFacts publication = good();
  publication.tables.front().permanent = false;
  EXPECT_EQ(only_finding(publication, Level::fail).mend,
            "ALTER TABLE \"public\".\"outbox\" SET LOGGED");
}

TEST_F(PublicationRulesTest, PartitionsWithoutWalFailByName) {
  PublicationFacts publication = good();
  publication.tables.front().partitions_without_wal = {"public.p1", "cold.p2"};
  EXPECT_THAT(only_finding(publication, Level::fail).what, HasSubstr("public.p1, cold.p2"));
}

TEST_F(PublicationRulesTest, RowFilterWarns) {
  PublicationFacts publication = good();
  publication.tables.front().row_filter = "(aggregate_type = 'secret')";
  const Finding finding = only_finding(publication, Level::warn);
  EXPECT_THAT(finding.what, AllOf(HasSubstr("row filter"), Not(HasSubstr("secret"))));
}

TEST_F(PublicationRulesTest, PartitionsUnderTheirOwnNamesWarn) {
  PublicationFacts publication = good();
  publication.tables.front().partition = true;
  EXPECT_EQ(only_finding(publication, Level::pass).level, Level::pass);
  publication.via_root = false;
  EXPECT_THAT(only_finding(publication, Level::warn).mend,
              HasSubstr("publish_via_partition_root = true"));
}

TEST_F(PublicationRulesTest, ColumnListThatDropsANeededColumnFailsNamingIt) {
  PublicationFacts publication = good();
  publication.tables.front().columns[4].published = false;
  const Finding finding = only_finding(publication, Level::fail);
  EXPECT_THAT(finding.what, HasSubstr("payload"));
  EXPECT_EQ(finding.mend,
            "BEGIN; LOCK TABLE \"public\".\"outbox\" IN SHARE ROW EXCLUSIVE MODE; ALTER "
            "PUBLICATION \"walpost\" DROP TABLE \"public\".\"outbox\"; ALTER PUBLICATION "
            "\"walpost\" ADD TABLE \"public\".\"outbox\"; COMMIT");
}

TEST_F(PublicationRulesTest, ColumnListThatDropsAnotherColumnWarns) {
  PublicationFacts publication = good();
  publication.tables.front().columns[5].published = false;
  EXPECT_THAT(only_finding(publication, Level::warn).what, HasSubstr("headers"));
}

TEST_F(PublicationRulesTest, NamedTableThatIsNoOutboxFailsWithTheMappersMend) {
  PublicationFacts publication = good();
  publication.tables.push_back(foreign_table("orders"));
  const Finding finding = only_finding(publication, Level::fail);
  EXPECT_THAT(finding.what, HasSubstr("orders"));
  EXPECT_THAT(finding.mend, Not(IsEmpty()));
}

TEST_F(PublicationRulesTest, PublicationOfAllTablesNamesSomeOfTheForeignOnes) {
  PublicationFacts publication = good();
  publication.all_tables = true;
  for (int i = 0; i < 7; ++i) {
    publication.tables.push_back(foreign_table("t" + std::to_string(i)));
  }
  const Finding finding = only_finding(publication, Level::fail);
  EXPECT_THAT(finding.what, AllOf(HasSubstr("ALL TABLES"), HasSubstr("7 table(s)"),
                                  HasSubstr("public.t4 and 2 more")));
}

TEST_F(PublicationRulesTest, PublicationOfASchemaWithOnlyOutboxesPasses) {
  PublicationFacts publication = good();
  publication.whole_schemas = true;
  publication.tables.push_back(outbox_table("outbox2"));
  EXPECT_THAT(only_finding(publication, Level::pass).what, HasSubstr("2 outbox table"));
}

TEST_F(PublicationRulesTest, TemplateThatNamesAMissingColumnFails) {
  route.topic = "events.{tenant}";
  EXPECT_THAT(only_finding(good(), Level::fail).what, HasSubstr("tenant"));
}

TEST_F(PublicationRulesTest, MappingByConfigurationIsUsed) {
  PublicationFacts publication = good();
  publication.tables.front().columns[4].name = "body";
  mapping.columns = {{"payload", "body"}};
  EXPECT_EQ(only_finding(publication, Level::pass).level, Level::pass);
}

}  // namespace
}  // namespace walpost::postgres
