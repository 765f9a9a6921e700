#include "position_record.h"

#include <gtest/gtest.h>

namespace walpost::kafka {
namespace {

using pgoutput::Lsn;

outbox::Position event(std::uint64_t commit, std::uint32_t ordinal) {
  return {Lsn{commit}, ordinal, {}};
}

TEST(PositionRecordTest, TheKeyNamesTheSystemAndTheSlot) {
  EXPECT_EQ(position_key("7001", "walpost"), "7001/walpost");
}

TEST(PositionRecordTest, WhatIsWrittenIsReadBack) {
  const PositionRecord with_event{Lsn{0x1600000010}, EventPlace{Lsn{0x1600000018}, 7}, "2"};
  const PositionRecord without{Lsn{0x10}, std::nullopt, "1"};
  EXPECT_EQ(decode(encode(with_event)), with_event);
  EXPECT_EQ(decode(encode(without)), without);
}

TEST(PositionRecordTest, TheValueIsReadableJson) {
  EXPECT_EQ(encode({Lsn{0x1600000010}, EventPlace{Lsn{0x1600000018}, 7}, "2"}),
            R"({"commit":"16/18","confirmed":"16/10","ordinal":7,"timeline":"2","version":1})");
}

TEST(PositionRecordTest, WhatThisVersionCannotUnderstandIsNoPosition) {
  for (const char* value :
       {"", "0/10", "[]", R"({"version":1})", R"({"version":1,"confirmed":"0/10"})",
        R"({"version":2,"confirmed":"0/10","timeline":"1"})",
        R"({"version":1,"confirmed":"x","timeline":"1"})",
        R"({"version":1,"confirmed":"0/10","timeline":1})",
        R"({"version":1,"confirmed":"0/10","timeline":"1","commit":"0/20"})",
        R"({"version":1,"confirmed":"0/10","timeline":"1","commit":"0/20","ordinal":-1})"}) {
    EXPECT_FALSE(decode(value)) << value;
  }
}

TEST(PositionRecordTest, AMemberOfALaterVersionIsNoObstacle) {
  EXPECT_TRUE(decode(R"({"version":1,"confirmed":"0/10","timeline":"1","more":[1]})"));
}

TEST(PositionRecordTest, AnEventIsCoveredUpToTheLastPublishedOneAndNoFurther) {
  const PositionRecord position{Lsn{0x100}, EventPlace{Lsn{0x120}, 4}, "1"};
  EXPECT_TRUE(covers(position, event(0xF8, 9)));
  EXPECT_TRUE(covers(position, event(0x100, 0)));  // before the last one, though not confirmed
  EXPECT_TRUE(covers(position, event(0x120, 4)));
  EXPECT_FALSE(covers(position, event(0x120, 5)));
  EXPECT_FALSE(covers(position, event(0x128, 0)));
}

TEST(PositionRecordTest, WithoutALastEventOnlyWhatIsConfirmedIsCovered) {
  const PositionRecord position{Lsn{0x100}, std::nullopt, "1"};
  EXPECT_TRUE(covers(position, event(0xF8, 0)));
  EXPECT_FALSE(covers(position, event(0x100, 0)));
}

TEST(PositionRecordTest, ALaterRecordThatLiesFurtherBackIsTheLastWordOfASleeper) {
  const PositionRecord ahead{Lsn{0x200}, std::nullopt, "1"};
  const PositionRecord behind{Lsn{0x100}, std::nullopt, "1"};
  EXPECT_EQ(newest(std::nullopt, behind), behind);
  EXPECT_EQ(newest(behind, ahead), ahead);
  EXPECT_EQ(newest(ahead, behind), ahead);
}

TEST(PositionRecordTest, ALaterRecordOfAnotherTimelineCountsWhereverItLies) {
  const PositionRecord former{Lsn{0x200}, EventPlace{Lsn{0x1F8}, 0}, "1"};
  const PositionRecord next{Lsn{0x100}, std::nullopt, "2"};
  EXPECT_EQ(newest(former, next), next);
}

}  // namespace
}  // namespace walpost::kafka
