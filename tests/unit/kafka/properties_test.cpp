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

TEST(Properties, OfTransactionsLetARecordExpireNoLaterThanItsTransaction) {
  const auto defaults = transactional_properties({}, std::nullopt, "walpost-7-s");
  EXPECT_EQ(value_of(defaults, "transactional.id"), "walpost-7-s");
  EXPECT_EQ(value_of(defaults, "message.timeout.ms"), "60000");
  EXPECT_EQ(value_of(defaults, "transaction.timeout.ms"), "60000");
  EXPECT_EQ(value_of(defaults, "enable.idempotence"), "true");
  const auto chosen =
      transactional_properties({{"transaction.timeout.ms", "9000"}}, 50000, "walpost-7-s");
  EXPECT_EQ(value_of(chosen, "message.timeout.ms"), "9000");
  EXPECT_EQ(chosen.batch_bytes, 50000u);
}

TEST(Properties, OfAReaderSayHowToReachTheBrokersAndThatOnlyCommittedRecordsCount) {
  const auto values = reader_properties({{"bootstrap.servers", "k:1"},
                                         {"security.protocol", "ssl"},
                                         {"sasl.password", "s"},
                                         {"ssl.ca.location", "/ca"},
                                         {"isolation.level", "read_uncommitted"},
                                         {"client.rack", "r"},
                                         {"linger.ms", "5"},
                                         {"compression.type", "zstd"},
                                         {"debug", "all"}});
  const auto value = [&](const std::string& name) {
    return value_of(ProducerProperties{values}, name);
  };
  EXPECT_EQ(value("metadata.broker.list"), "k:1");
  EXPECT_EQ(value("security.protocol"), "ssl");
  EXPECT_EQ(value("sasl.password"), "s");
  EXPECT_EQ(value("ssl.ca.location"), "/ca");
  EXPECT_EQ(value("isolation.level"), "read_committed");
  for (const char* others : {"client.rack", "queue.buffering.max.ms", "compression.codec", "debug"})
    EXPECT_EQ(value(others), "(unset)") << others;
}

}  // namespace
}  // namespace walpost::kafka
