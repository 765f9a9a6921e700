#include "pgoutput/lsn.h"

#include <gtest/gtest.h>

#include <limits>

namespace {

using pgoutput::Lsn;

// "16/B374D848" is the example of PostgreSQL's documentation, chapter "pg_lsn Type".
TEST(Lsn, IsTwoHalvesOfHexadecimalDigits) {
  EXPECT_EQ(Lsn::parse("16/B374D848"), (Lsn{0x16B374D848}));
  EXPECT_EQ((Lsn{0x16B374D848}).to_string(), "16/B374D848");
}

TEST(Lsn, ReadsEitherCaseAndLeadingZeros) {
  EXPECT_EQ(Lsn::parse("ff/ffffffff"), Lsn::parse("FF/FFFFFFFF"));
  EXPECT_EQ(Lsn::parse("00000016/000000aB"), (Lsn{0x16000000AB}));
}

TEST(Lsn, WritesNoLeadingZerosAsTheServerDoes) {
  EXPECT_EQ(Lsn{}.to_string(), "0/0");
  EXPECT_EQ((Lsn{0xA00000001}).to_string(), "A/1");
}

TEST(Lsn, KeepsTheLargestPosition) {
  const Lsn largest{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(largest.to_string(), "FFFFFFFF/FFFFFFFF");
  EXPECT_EQ(Lsn::parse("FFFFFFFF/FFFFFFFF"), largest);
}

TEST(Lsn, ZeroIsNoPosition) {
  EXPECT_FALSE(Lsn{}.valid());
  EXPECT_TRUE(Lsn{1}.valid());
}

TEST(Lsn, OrdersByPositionInTheLog) {
  EXPECT_LT(*Lsn::parse("9/FFFFFFFF"), *Lsn::parse("A/0"));
}

class NotAnLsn : public testing::TestWithParam<const char*> {};

TEST_P(NotAnLsn, IsRefused) {
  EXPECT_EQ(Lsn::parse(GetParam()), std::nullopt);
}

// The first rows are those that PostgreSQL's own regression test for pg_lsn refuses.
INSTANTIATE_TEST_SUITE_P(Texts, NotAnLsn,
                         testing::Values("G/0", "-1/0", " 0/12345678", "ABCD/", "/ABCD", "", "/",
                                         "16", "16/", "16/B374D848 ", "16/B374D8489", "123456789/0",
                                         "000000016/0", "0x16/0", "16/0x1", "+1/0", "1//2", "1/2/3",
                                         "1/-2"));

TEST(Lsn, RefusesANulInside) {
  EXPECT_EQ(Lsn::parse(std::string_view("16/B3\0", 6)), std::nullopt);
}

}  // namespace
