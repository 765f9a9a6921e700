#include "outbox/headers_object.h"

#include <gmock/gmock.h>

namespace walpost::outbox {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Member = std::pair<std::string, std::optional<std::string>>;

std::optional<HeadersError> error_of(std::string_view json) {
  std::string scratch;
  std::vector<Header> headers;
  return read_headers(json, scratch, headers);
}

std::vector<Member> members(std::string_view json) {
  std::string scratch;
  std::vector<Header> headers;
  EXPECT_FALSE(read_headers(json, scratch, headers)) << json;
  std::vector<Member> copies;
  for (const Header& header : headers) copies.emplace_back(header.name, header.value);
  return copies;
}

/// The value of the only member.
std::optional<std::string> value(const std::string& json) {
  const auto all = members("{\"k\":" + json + "}");
  EXPECT_EQ(all.size(), 1u);
  return all.at(0).second;
}

TEST(Headers, MembersKeepDocumentOrder) {
  EXPECT_THAT(members(R"({"z":"1","a":"2","m":"3"})"),
              ElementsAre(Pair("z", "1"), Pair("a", "2"), Pair("m", "3")));
}

TEST(Headers, RepeatedNamesAreAllKept) {
  EXPECT_THAT(members(R"({"a":"1","b":"2","a":"3"})"),
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("a", "3")));
}

TEST(Headers, EmptyObjectHasNone) {
  EXPECT_THAT(members("{}"), IsEmpty());
  EXPECT_THAT(members(" \t\r\n{ } \n"), IsEmpty());
}

TEST(Headers, WhitespaceAroundTokensIsNotContent) {
  EXPECT_THAT(members(" { \"a\" : 1 , \"b\" :\t[ 1 ]\n} "),
              ElementsAre(Pair("a", "1"), Pair("b", "[ 1 ]")));
}

TEST(Headers, StringsAreDecoded) {
  EXPECT_EQ(value(R"("plain")"), "plain");
  EXPECT_EQ(value(R"("")"), "");
  EXPECT_EQ(value(R"("\" \\ \/ \b \f \n \r \t")"), "\" \\ / \b \f \n \r \t");
  EXPECT_EQ(value(R"("\u0041\u00e9\u20AC")"), "A\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(value(R"("\ud83d\ude00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(value("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""),
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(value(R"("a\u0000b")"), "a\0b"s);
}

TEST(Headers, NamesAreDecoded) {
  EXPECT_THAT(members(R"({"a\n":"1","":"2"})"), ElementsAre(Pair("a\n", "1"), Pair("", "2")));
}

TEST(Headers, DecodedTextsDoNotDisturbEachOther) {
  EXPECT_THAT(members(R"({"\u0061":"\u0062","\u0063":"\u0064"})"),
              ElementsAre(Pair("a", "b"), Pair("c", "d")));
}

TEST(Headers, NullIsANullValue) {
  EXPECT_EQ(value("null"), std::nullopt);
}

TEST(Headers, OtherValuesAreTheirJsonText) {
  for (const std::string json :
       {"0", "-0", "1.10", "1e400", "-1.5E+3", "123456789012345678901234567890", "true", "false",
        "[]", "{}", "[1, \"x\\n\", null]", "{ \"b\" : { \"c\" : [ ] } }"}) {
    EXPECT_EQ(value(json), json);
  }
}

TEST(Headers, OnlyAnObjectIsAccepted) {
  for (const std::string_view json : {"", " ", "null", "1", "\"x\"", "[]", "[{}]", "x"}) {
    EXPECT_TRUE(error_of(json)) << json;
  }
}

TEST(Headers, MalformedTextIsRefused) {
  for (const std::string_view json : {"{",
                                      "{\"a\"",
                                      "{\"a\":",
                                      "{\"a\":1",
                                      "{\"a\":1,",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "{\"a\" 1}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "{\"a\":1}x",
                                      "{}{}",
                                      "{} /**/",
                                      "{\"a\":01}",
                                      "{\"a\":+1}",
                                      "{\"a\":.5}",
                                      "{\"a\":1.}",
                                      "{\"a\":1e}",
                                      "{\"a\":-}",
                                      "{\"a\":NaN}",
                                      "{\"a\":tru}",
                                      "{\"a\":nul}",
                                      "{\"a\":[1,]}",
                                      "{\"a\":[1}",
                                      "{\"a\":{\"b\"}}",
                                      "{\"a\":\"x}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":\"\\u12g4\"}",
                                      "{\"a\":\"\\u12\"}",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\x01\"}"}) {
    EXPECT_TRUE(error_of(json)) << json;
  }
}

TEST(Headers, LoneSurrogatesAreRefused) {
  for (const std::string_view escape : {R"(\ud800)", R"(\udc00)", R"(\ud800x)", R"(\ud800\n)",
                                        R"(\ud800\ud800)", R"(\udc00\ud800)", R"(\ud800\u0041)"}) {
    EXPECT_TRUE(error_of("{\"a\":\"" + std::string(escape) + "\"}")) << escape;
    EXPECT_TRUE(error_of("{\"" + std::string(escape) + "\":1}")) << escape;
    EXPECT_TRUE(error_of("{\"a\":[\"" + std::string(escape) + "\"]}")) << escape;
  }
}

// Unicode standard, table 3-7: well-formed UTF-8 byte sequences.
TEST(Headers, TextThatIsNotUtf8IsRefused) {
  for (const std::string_view bytes :
       {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xc3\x28", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xf0\x9f\x98", "\xfe", "\xff"}) {
    EXPECT_TRUE(error_of("{\"a\":\"" + std::string(bytes) + "\"}"));
    EXPECT_TRUE(error_of("{\"a\":\"" + std::string(bytes)));
  }
}

TEST(Headers, NestingIsLimited) {
  const auto nested = [](int arrays) {
    const auto depth = static_cast<std::size_t>(arrays);
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_FALSE(error_of(nested(deepest_headers - 1)));
  const auto error = error_of(nested(deepest_headers));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, "nested too deeply");
}

TEST(Headers, ErrorTellsWhere) {
  const auto error = error_of("{\"a\":1;\"b\":2}");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->offset, 6u);
}

TEST(Headers, EveryTruncationIsRefused) {
  const std::string json =
      "{\"a\":\"\\ud83d\\ude00\xc3\xa9\",\"b\":[1.5e3,{\"c\":null}],\"d\":true}";
  ASSERT_FALSE(error_of(json));
  for (std::size_t length = 0; length < json.size(); ++length) {
    EXPECT_TRUE(error_of(std::string_view(json).substr(0, length))) << length;
  }
}

}  // namespace
}  // namespace walpost::outbox
