#include "walpost/outbox/nearest_name.h"

#include <gmock/gmock.h>

#include <vector>

namespace walpost::outbox {
namespace {

const std::vector<std::string> columns{"id", "aggregate_id", "aggregate_type", "payload"};

TEST(NearestName, MisspellingsFindTheirColumn) {
  EXPECT_EQ(nearest_name("paylod", columns), "payload");
  EXPECT_EQ(nearest_name("aggregateid", columns), "aggregate_id");
  EXPECT_EQ(nearest_name("agregate_tipe", columns), "aggregate_type");
}

TEST(NearestName, AnotherWordFindsNothing) {
  EXPECT_EQ(nearest_name("customer", columns), std::nullopt);
  EXPECT_EQ(nearest_name("", columns), std::nullopt);
  EXPECT_EQ(nearest_name("payload", {}), std::nullopt);
}

}  // namespace
}  // namespace walpost::outbox
