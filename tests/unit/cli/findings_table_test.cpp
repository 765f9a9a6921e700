#include "findings_table.h"

#include <gtest/gtest.h>

namespace walpost::cli {
namespace {

using Level = relay::Finding::Level;

TEST(FindingsTableTest, AlignsTheFindingsAndIndentsTheirMends) {
  EXPECT_EQ(findings_table({{Level::pass, "slot walpost", "exists", ""},
                            {Level::warn, "wal", "no limit", "ALTER SYSTEM ...\nreload"},
                            {Level::fail, "topic orders", "missing", "create it"}}),
            "pass  slot walpost  exists\n"
            "warn  wal           no limit\n"
            "      ALTER SYSTEM ...\n"
            "      reload\n"
            "fail  topic orders  missing\n"
            "      create it\n");
}

TEST(FindingsTableTest, NothingFoundIsNothingPrinted) {
  EXPECT_EQ(findings_table({}), "");
}

}  // namespace
}  // namespace walpost::cli
