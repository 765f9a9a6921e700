#include "bench/table.h"

#include <gtest/gtest.h>

namespace walpost::bench {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"tool", "rows/s"});
  table.add({"walpost", "1"});
  EXPECT_EQ(table.text(),
            "tool     rows/s\n"
            "walpost       1\n");
}

TEST(TableTest, ACharacterOfTwoBytesIsOneColumnWide) {
  Table table({"", "µs"});
  table.add({"a", "12"});
  EXPECT_EQ(table.text(), "   µs\na  12\n");
}

TEST(TableTest, NumbersAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999.4), "999");
  EXPECT_EQ(grouped(999.5), "1,000");
  EXPECT_EQ(grouped(83123.4), "83,123");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1000), "-1,000");
}

TEST(TableTest, DecimalsAreRounded) {
  EXPECT_EQ(decimal(0.856, 2), "0.86");
  EXPECT_EQ(decimal(12, 1), "12.0");
}

}  // namespace
}  // namespace walpost::bench
