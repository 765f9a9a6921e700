#include "properties.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace walpost::kafka {
namespace {

std::string value_of(const ProducerProperties& properties, const std::string& name) {
  const auto found =
      std::ranges::find(properties.values, name, &std::pair<std::string, std::string>::first);
  return found == properties.values.end() ? "(unset)" : found->second;
}

TEST(Properties, CarryThePromiseOfRuleR5ByDefault) {
  const auto properties = producer_properties({}, std::nullopt);
  EXPECT_EQ(value_of(properties, "enable.idempotence"), "true");
  EXPECT_EQ(value_of(properties, "enable.gapless.guarantee"), "true");
  EXPECT_EQ(value_of(properties, "request.required.acks"), "all");
  EXPECT_EQ(value_of(properties, "message.timeout.ms"), "0");
  EXPECT_EQ(value_of(properties, "allow.auto.create.topics"), "false");
  EXPECT_EQ(value_of(properties, "partitioner"), "murmur2_random");
}

TEST(Properties, OfTheUserReplaceADefaultUnderEitherName) {
  const auto properties =
      producer_properties({{"linger.ms", "5"}, {"max.in.flight", "5"}}, std::nullopt);
  EXPECT_EQ(value_of(properties, "queue.buffering.max.ms"), "5");
  EXPECT_EQ(value_of(properties, "linger.ms"), "(unset)");
  EXPECT_EQ(value_of(properties, "max.in.flight.requests.per.connection"), "5");
}

TEST(Properties, BatchesShrinkToTheSmallestLimitOfATopic) {
  EXPECT_EQ(producer_properties({}, 50000).batch_bytes, 50000u);
  EXPECT_EQ(value_of(producer_properties({}, 50000), "batch.size"), "50000");
}

TEST(Properties, BatchesDoNotGrowWithALargerLimit) {
  EXPECT_EQ(producer_properties({}, 9'000'000).batch_bytes, 1'000'000u);
}

TEST(Properties, ABatchSizeOfTheUserIsKept) {
  const auto properties = producer_properties({{"batch.size", "300000"}}, 50000);
  EXPECT_EQ(properties.batch_bytes, 300000u);
  EXPECT_TRUE(properties.batch_bytes_chosen);
}

TEST(Properties, TellWhetherRecordsAreCompressed) {
  EXPECT_FALSE(producer_properties({}, std::nullopt).compressed);
  EXPECT_FALSE(producer_properties({{"compression.type", "none"}}, std::nullopt).compressed);
  EXPECT_TRUE(producer_properties({{"compression.type", "zstd"}}, std::nullopt).compressed);
  EXPECT_TRUE(producer_properties({{"compression.codec", "lz4"}}, std::nullopt).compressed);
}

}  // namespace
}  // namespace walpost::kafka
