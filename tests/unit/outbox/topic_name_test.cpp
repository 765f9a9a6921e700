#include "outbox/topic_name.h"

#include <gmock/gmock.h>

#include <string>

namespace walpost::outbox {
namespace {

// The rule of org.apache.kafka.common.internals.Topic: [a-zA-Z0-9._-], at most 249, not "." or
// "..".

TEST(TopicName, LegalCharactersAreAccepted) {
  for (const std::string_view name : {"a", "Z", "0", "-", "_", "...", "outbox.event.Order-1_x"}) {
    EXPECT_TRUE(is_topic_name(name)) << name;
  }
}

TEST(TopicName, EveryOtherByteIsRefused) {
  const std::string legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool expected = legal.find(c) != std::string::npos;
    EXPECT_EQ(is_topic_name(std::string{'a', c}), expected) << byte;
  }
}

TEST(TopicName, LengthIsOneTo249) {
  EXPECT_FALSE(is_topic_name(""));
  EXPECT_TRUE(is_topic_name(std::string(249, 'a')));
  EXPECT_FALSE(is_topic_name(std::string(250, 'a')));
}

TEST(TopicName, OneAndTwoDotsAreRefused) {
  EXPECT_FALSE(is_topic_name("."));
  EXPECT_FALSE(is_topic_name(".."));
}

}  // namespace
}  // namespace walpost::outbox
