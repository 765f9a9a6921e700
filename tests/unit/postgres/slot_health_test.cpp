#include "postgres/slot_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walpost::postgres {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

SlotHealth healthy() {
  SlotHealth health;
  health.wal_status = WalStatus::reserved;
  health.retained_bytes = 1000;
  return health;
}

std::string warning(const SlotHealth& now, const std::optional<SlotHealth>& before = {}) {
  return slot_health_warning("walpost", now, before).value_or("");
}

TEST(SlotHealthTest, HealthySlotIsNotSpokenOf) {
  EXPECT_EQ(warning(healthy()), "");
}

TEST(SlotHealthTest, UnreservedAndLostAreNamed) {
  SlotHealth health = healthy();
  health.wal_status = WalStatus::unreserved;
  EXPECT_THAT(warning(health), testing::HasSubstr("no longer reserved"));
  health.wal_status = WalStatus::lost;
  EXPECT_THAT(warning(health), testing::HasSubstr("slot walpost: lost"));
}

TEST(SlotHealthTest, LessThanATenthOfTheLimitIsNamed) {
  SlotHealth health = healthy();
  health.limit_bytes = 10 * gibibyte;
  health.safe_bytes = gibibyte;
  EXPECT_EQ(warning(health), "");
  health.safe_bytes = gibibyte - 1;
  EXPECT_THAT(warning(health), testing::HasSubstr("1023 MB of WAL until it is lost, of 10240 MB"));
}

TEST(SlotHealthTest, GrowthBeyondAGibibyteIsNamed) {
  SlotHealth before = healthy();
  before.retained_bytes = 2 * gibibyte;
  SlotHealth now = before;
  EXPECT_EQ(warning(now, before), "");
  now.retained_bytes += 1;
  EXPECT_THAT(warning(now, before), testing::HasSubstr("keeps 2048 MB of WAL"));
}

TEST(SlotHealthTest, SmallGrowthIsNotSpokenOf) {
  SlotHealth now = healthy();
  now.retained_bytes = gibibyte;
  EXPECT_EQ(warning(now, healthy()), "");
}

}  // namespace
}  // namespace walpost::postgres
