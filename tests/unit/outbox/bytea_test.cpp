#include "outbox/bytea.h"

#include <gmock/gmock.h>

namespace walpost::outbox {
namespace {

using namespace std::string_literals;

std::optional<std::string> decoded(std::string_view text) {
  std::string bytes = "left over";
  if (!decode_bytea(text, bytes)) return std::nullopt;
  return bytes;
}

TEST(Bytea, HexFormIsDecoded) {
  EXPECT_EQ(decoded("\\x6100ff"), "a\0\xff"s);
}

TEST(Bytea, EmptyIsEmpty) {
  EXPECT_EQ(decoded("\\x"), "");
}

TEST(Bytea, DigitsOfEitherCaseAreRead) {
  EXPECT_EQ(decoded("\\xabCDeF"), "\xab\xcd\xef");
}

TEST(Bytea, EveryByteValueIsDecoded) {
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(byte));
    EXPECT_EQ(decoded(text), std::string(1, static_cast<char>(byte))) << text;
  }
}

TEST(Bytea, AnythingElseIsRefused) {
  for (const std::string_view text : {"", "\\", "x", "\\X00", "\\x0", "\\x000", "\\xg0", "\\x0g",
                                      "\\x 0", "abc", "a\\000\\377", "\\\\x00"}) {
    EXPECT_EQ(decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace walpost::outbox
