#include "held_record.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walpost::kafka {
namespace {

TEST(HeldRecordTest, IsTheRecordAfterTheOriginalIsGone) {
  std::vector<outbox::Header> headers;
  std::optional<HeldRecord> held;
  {
    const std::string topic = "t", key("k\0y", 3), value(70000, 'v'), name = "h", text = "x";
    const std::vector<outbox::Header> its{{name, text}, {"empty", ""}, {"null", std::nullopt}};
    const outbox::Position position{pgoutput::Lsn{0x18}, 4, {}};
    HeldRecord made(outbox::Record{topic, key, value, its, position}, relay::Token(3, 2, 1), 7);
    held.emplace(std::move(made));
  }
  const outbox::Record record = held->view(headers);
  EXPECT_EQ(record.topic, "t");
  EXPECT_EQ(record.key, std::string("k\0y", 3));
  EXPECT_EQ(record.value, std::string(70000, 'v'));
  ASSERT_EQ(record.headers.size(), 3u);
  EXPECT_EQ(record.headers[0].name, "h");
  EXPECT_EQ(record.headers[0].value, "x");
  EXPECT_EQ(record.headers[1].value, "");
  EXPECT_EQ(record.headers[2].name, "null");
  EXPECT_EQ(record.headers[2].value, std::nullopt);
  EXPECT_EQ(held->token.packed(), relay::Token(3, 2, 1).packed());
  EXPECT_EQ(held->partition, 7);
  EXPECT_EQ(record.position.commit_lsn, pgoutput::Lsn{0x18});
  EXPECT_EQ(record.position.ordinal, 4u);
}

TEST(HeldRecordTest, KeepsATombstoneAndAnEmptyKeyApart) {
  const HeldRecord held(outbox::Record{"t", "", std::nullopt, {}}, relay::Token(1, 1, 0), 0);
  std::vector<outbox::Header> headers{{"former", "gone"}};
  const outbox::Record record = held.view(headers);
  EXPECT_EQ(record.key, "");
  EXPECT_EQ(record.value, std::nullopt);
  EXPECT_TRUE(record.headers.empty());
}

}  // namespace
}  // namespace walpost::kafka
