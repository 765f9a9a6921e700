#include <gmock/gmock.h>

#include <random>

#include "outbox/headers_object.h"
#include "unit/outbox/headers_oracle.h"

namespace walpost::outbox {
namespace {

using testing::HeadersOracle;

/// Makes documents, well-formed ones and damaged ones, the same ones in every run.
class Documents {
 public:
  std::string well_formed() {
    std::string json = space() + "{";
    const int count = pick(6);
    for (int i = 0; i < count; ++i) {
      json +=
          (i > 0 ? "," : "") + space() + string() + space() + ":" + space() + value(4) + space();
    }
    return json + "}" + space();
  }

  std::string damaged() {
    std::string json = well_formed();
    for (int edits = 1 + pick(3); edits > 0; --edits) damage(json);
    return json;
  }

 private:
  int pick(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  std::string pick_from(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))];
  }

  std::string space() { return pick_from({"", "", "", " ", "\n", "\t \r"}); }

  std::string string() {
    std::string text = "\"";
    for (int i = pick(6); i > 0; --i) {
      text += pick_from({"a",
                         "Z",
                         "0",
                         " ",
                         "\x7f",
                         "\\\"",
                         "\\\\",
                         "\\/",
                         "\\b",
                         "\\f",
                         "\\n",
                         "\\r",
                         "\\t",
                         "\\u0000",
                         "\\u001F",
                         "\\u00e9",
                         "\\u07ff",
                         "\\u0800",
                         "\\uD7FF",
                         "\\uE000",
                         "\\uffff",
                         "\\ud800\\udc00",
                         "\\uDBFF\\uDFFF",
                         "\xc3\xa9",
                         "\xe2\x82\xac",
                         "\xef\xbf\xbf",
                         "\xf0\x90\x80\x80",
                         "\xf4\x8f\xbf\xbf"});
    }
    return text + "\"";
  }

  std::string value(int depth) {
    switch (pick(depth > 0 ? 6 : 4)) {
      case 0:
        return string();
      case 1:
        return pick_from({"null", "true", "false"});
      case 2:
      case 3:
        return pick_from({"0", "-0", "7", "-12", "1.10", "0.5e2", "1E-3", "2e+10",
                          "18446744073709551615", "18446744073709551616",
                          "123456789012345678901234567890"});
      case 4:
        return sequence("[", "]", depth, false);
      default:
        return sequence("{", "}", depth, true);
    }
  }

  std::string sequence(const std::string& open, const std::string& close, int depth, bool named) {
    std::string json = open + space();
    const int count = pick(4);
    for (int i = 0; i < count; ++i) {
      json += (i > 0 ? "," : "") + space();
      if (named) json += string() + space() + ":" + space();
      json += value(depth - 1) + space();
    }
    return json + close;
  }

  /// Never with NUL, which nlohmann takes for the end of its input and PostgreSQL can't store.
  std::string fragment() {
    if (pick(4) == 0) return std::string(1, static_cast<char>(1 + pick(255)));
    return pick_from({"{",        "}",        "[",       "]", ",",    ":",    "\"",   "\\",
                      "\\u",      "\\ud800",  "\\udc00", "-", "+",    ".",    "e",    "0",
                      "1",        "null",     "true",    " ", "\x01", "\x1f", "\x80", "\xc0",
                      "\xed\xa0", "\xf4\x90", "\xf5",    "/", "'"});
  }

  void damage(std::string& json) {
    const auto at = static_cast<std::size_t>(pick(static_cast<int>(json.size()) + 1));
    switch (pick(4)) {
      case 0:
        json.insert(at, fragment());
        break;
      case 1:
        json.erase(at, static_cast<std::size_t>(1 + pick(3)));
        break;
      case 2:
        json.resize(at);
        break;
      default:
        json.replace(at, 1, fragment());
    }
  }

  std::mt19937 random_{20240229};
};

/// Empty when both agree, else what is different.
std::string difference(const std::string& json, HeadersOracle& oracle) {
  std::string scratch;
  std::vector<Header> headers;
  const bool accepted = !read_headers(json, scratch, headers);
  const bool expected = oracle.read(json);
  if (oracle.number_overflowed()) return {};
  if (accepted != expected) return accepted ? "only we accept it" : "only nlohmann accepts it";
  if (!accepted) return {};
  if (headers.size() != oracle.members().size()) return "another number of members";
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto& [name, value] = oracle.members()[i];
    if (headers[i].name != name) return "another name";
    if (headers[i].value.has_value() != value.has_value()) return "another null";
    if (!value || *headers[i].value == *value) continue;
    if (HeadersOracle::canonical(*headers[i].value) != *value) return "another value";
  }
  return {};
}

TEST(HeadersDifferential, WellFormedDocumentsReadAsByNlohmann) {
  Documents documents;
  HeadersOracle oracle;
  for (int i = 0; i < 3000; ++i) {
    const std::string json = documents.well_formed();
    ASSERT_EQ(difference(json, oracle), "") << json;
    ASSERT_FALSE(oracle.number_overflowed());
    std::string scratch;
    std::vector<Header> headers;
    ASSERT_FALSE(read_headers(json, scratch, headers)) << json;
  }
}

TEST(HeadersDifferential, DamagedDocumentsAreAcceptedOrRefusedAsByNlohmann) {
  Documents documents;
  HeadersOracle oracle;
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string json = documents.damaged();
    ASSERT_EQ(difference(json, oracle), "") << json;
    ++(oracle.read(json) ? accepted : refused);
  }
  // Both outcomes must have been compared, or the test says nothing.
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace walpost::outbox
