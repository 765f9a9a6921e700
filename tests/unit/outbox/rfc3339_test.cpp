#include "outbox/rfc3339.h"

#include <gmock/gmock.h>

#include <string>

namespace walpost::outbox {
namespace {

std::optional<std::string> in_utc(std::string_view text) {
  Rfc3339Buffer buffer;
  const auto written = to_rfc3339(text, buffer);
  return written ? std::optional<std::string>(*written) : std::nullopt;
}

struct Case {
  std::string_view printed;  ///< by psql
  std::string_view utc;      ///< what was given to psql, as RFC 3339 writes it
};

// Each left side is what PostgreSQL 15.20 printed for the instant on the right, under the named
// TimeZone; the right side is the literal given to it, in UTC.
constexpr Case printed_by_postgres[] = {
    {"2026-11-30 22:37:24.123456+00", "2026-11-30T22:37:24.123456Z"},     // UTC
    {"2026-11-30 22:37:24.1+00", "2026-11-30T22:37:24.1Z"},               // UTC
    {"2026-11-30 22:37:24+00", "2026-11-30T22:37:24Z"},                   // UTC
    {"2026-12-01 04:07:24.123456+05:30", "2026-11-30T22:37:24.123456Z"},  // Asia/Kolkata
    {"1900-01-01 05:21:10+05:21:10", "1900-01-01T00:00:00Z"},             // Asia/Kolkata
    {"2027-01-01 05:30:00+05:30", "2027-01-01T00:00:00Z"},                // Asia/Kolkata
    {"2026-06-30 23:00:00-04", "2026-07-01T03:00:00Z"},                   // America/New_York
    {"1879-12-31 19:03:58-04:56:02", "1880-01-01T00:00:00Z"},             // America/New_York
    {"0001-12-31 19:03:58-04:56:02 BC", "0001-01-01T00:00:00Z"},          // America/New_York
    {"1959-12-31 23:15:30-00:44:30", "1960-01-01T00:00:00Z"},             // Africa/Monrovia
    {"10000-01-01 13:00:00+14", "9999-12-31T23:00:00Z"},                  // Pacific/Kiritimati
    {"2024-01-01 13:59:59.9+14", "2023-12-31T23:59:59.9Z"},               // Pacific/Kiritimati
    {"0001-12-31 09:30:40-10:29:20 BC", "0000-12-31T20:00:00Z"},          // Pacific/Kiritimati
};

TEST(Rfc3339, WhatPostgresPrintsBecomesUtc) {
  for (const Case& each : printed_by_postgres) {
    EXPECT_EQ(in_utc(each.printed), each.utc) << each.printed;
  }
}

TEST(Rfc3339, TimestampWithoutZoneIsUtc) {
  EXPECT_EQ(in_utc("2024-02-29 23:59:59.5"), "2024-02-29T23:59:59.5Z");
}

// As printed by PostgreSQL 15.20.
TEST(Rfc3339, TimesOutsideOfItsYearsHaveNoForm) {
  for (const std::string_view text :
       {"infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "10000-01-01 00:00:00+00",
        "9999-12-31 19:00:00-05", "294276-12-31 23:59:59.999999+00", "4713-11-24 00:00:00 BC"}) {
    EXPECT_EQ(in_utc(text), std::nullopt) << text;
  }
}

TEST(Rfc3339, OtherTextIsRefused) {
  for (const std::string_view text : {"",
                                      "now",
                                      "2026-11-30",
                                      "2026-11-30T22:37:24+00",
                                      "2026-11-30 22:37",
                                      "226-11-30 22:37:24",
                                      "2026-13-01 00:00:00",
                                      "2026-00-01 00:00:00",
                                      "2026-02-29 00:00:00",
                                      "2026-01-00 00:00:00",
                                      "2026-11-30 24:00:00",
                                      "2026-11-30 23:60:00",
                                      "2026-11-30 23:00:60",
                                      "2026-11-30 2:37:24",
                                      "2026-11-30 22:37:24.",
                                      "2026-11-30 22:37:24.1234567",
                                      "2026-11-30 22:37:24+5",
                                      "2026-11-30 22:37:24+24",
                                      "2026-11-30 22:37:24+05:60",
                                      "2026-11-30 22:37:24+05:",
                                      "2026-11-30 22:37:24+05:30:10:1",
                                      "2026-11-30 22:37:24 AD",
                                      "2026-11-30 22:37:24+00 ",
                                      "-2026-11-30 22:37:24+00",
                                      "1234567-01-01 00:00:00+00",
                                      "30/11/2026 22:37:24 UTC"}) {
    EXPECT_EQ(in_utc(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace walpost::outbox
