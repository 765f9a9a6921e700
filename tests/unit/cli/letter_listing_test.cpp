#include "letter_listing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace walpost::cli {
namespace {

postgres::KeptLetter letter() {
  postgres::KeptLetter made;
  made.id = 12;
  made.state = "parked";
  made.event_id = "e-1";
  made.table = "public.outbox";
  made.commit_lsn = {0x16B374D848};
  made.ordinal = 3;
  made.topic = "orders";
  made.key = "order-17";
  made.value = "{}";
  made.headers = {{"traceId", "t"}, {"none", std::nullopt}};
  made.reason = "too large";
  made.attempts = 2;
  made.first_failure = "2026-12-01 06:00:00.123456+00";
  made.last_failure = "2026-12-01 07:00:00+00";
  return made;
}

TEST(LetterListing, HasALineForEachUnderItsHeadings) {
  auto keyless = letter();
  keyless.id = 7;
  keyless.key.reset();
  EXPECT_EQ(letters_table({letter(), keyless}),
            "id  state   since                table          topic   key       reason\n"
            "12  parked  2026-12-01 06:00:00  public.outbox  orders  order-17  too large\n"
            "7   parked  2026-12-01 06:00:00  public.outbox  orders  -         too large\n");
  EXPECT_EQ(letters_table({}), "no dead letters\n");
}

TEST(LetterListing, ShowsEverythingOfOne) {
  EXPECT_EQ(letter_text(letter()),
            "id: 12\nstate: parked\nreason: too large\nattempts: 2\n"
            "first failure: 2026-12-01 06:00:00.123456+00\nlast failure: 2026-12-01 07:00:00+00\n"
            "event: e-1\ntable: public.outbox\nposition: 16/B374D848/3\ntopic: orders\n"
            "key: order-17\nheader traceId: t\nheader none: (null)\nvalue: {}\n");
}

TEST(LetterListing, ShowsBytesThatAreNoTextInHex) {
  auto binary = letter();
  binary.value = std::string("\xff\x00", 2);
  EXPECT_NE(letter_text(binary).find("value in hex: ff00\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(letter_json(binary, true)).at("value_hex"), "ff00");
}

TEST(LetterListing, IsJsonThatLeavesTheValueOutOfTheList) {
  const auto listed = nlohmann::json::parse(letter_json(letter(), false));
  EXPECT_EQ(listed.at("position"), "16/B374D848/3");
  EXPECT_FALSE(listed.contains("value"));
  const auto shown = nlohmann::json::parse(letter_json(letter(), true));
  EXPECT_EQ(shown.at("value"), "{}");
  EXPECT_EQ(shown.at("headers"), nlohmann::json::parse(R"([["traceId","t"],["none",null]])"));
}

}  // namespace
}  // namespace walpost::cli
