#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "golden.h"
#include "pgoutput/decode.h"

namespace {

using namespace std::string_literals;
using namespace pgoutput;

std::optional<DecodeError> refusal(std::string_view bytes, StreamContext context = {}) {
  const Decoded result = decode(bytes, context);
  if (const auto* error = std::get_if<DecodeError>(&result)) return *error;
  return std::nullopt;
}

std::vector<golden::Captured> every_captured_message() {
  std::vector<golden::Captured> all;
  for (const golden::File* file : {&golden::messages(), &golden::parallel()}) {
    for (const auto& [name, scenario] : *file) {
      all.insert(all.end(), scenario.captured.begin(), scenario.captured.end());
    }
  }
  return all;
}

TEST(CapturedMessages, AreOfEveryTypeTheProtocolHas) {
  std::set<char> types;
  for (const golden::Captured& one : every_captured_message()) types.insert(one.bytes.front());
  const std::string documented = "BCORYIUDTMSEcAbPKrp";
  EXPECT_EQ(types, std::set<char>(documented.begin(), documented.end()));
}

TEST(CapturedMessages, AreTaken) {
  for (const golden::Captured& one : every_captured_message()) {
    EXPECT_FALSE(refusal(one.bytes, one.context)) << testing::PrintToString(one.bytes);
  }
}

TEST(CapturedMessages, CutShortAnywhereAreRefused) {
  for (const golden::Captured& one : every_captured_message()) {
    for (std::size_t size = 0; size < one.bytes.size(); ++size) {
      const auto error = refusal(one.bytes.substr(0, size), one.context);
      ASSERT_TRUE(error) << testing::PrintToString(one.bytes) << " cut to " << size;
      EXPECT_LE(error->offset, size);
      EXPECT_FALSE(error->what.empty());
    }
  }
}

TEST(CapturedMessages, WithAByteMoreAreRefusedAtThatByte) {
  for (const golden::Captured& one : every_captured_message()) {
    for (const char more : {'\0', 'n', '\xff'}) {
      const auto error = refusal(one.bytes + more, one.context);
      ASSERT_TRUE(error) << testing::PrintToString(one.bytes);
      EXPECT_EQ(error->offset, one.bytes.size());
    }
  }
}

// Without the context the transaction identifier is missing or too much.
TEST(CapturedMessages, OfAStreamNeedToBeKnownAsSuch) {
  const golden::Captured& streamed = golden::messages().at("streamed_commit").captured.at(5);
  ASSERT_TRUE(streamed.context.in_stream);
  EXPECT_TRUE(refusal(streamed.bytes, {.in_stream = false}));
  const golden::Captured& plain = golden::messages().at("insert_text").captured.at(4);
  EXPECT_TRUE(refusal(plain.bytes, {.in_stream = true}));
}

TEST(CapturedMessages, OfAParallelAbortNeedToBeKnownAsSuch) {
  const std::string with = golden::parallel().at("parallel_abort").captured.back().bytes;
  EXPECT_TRUE(refusal(with, {.parallel_abort = false}));
  const std::string without = golden::messages().at("streamed_abort").captured.back().bytes;
  EXPECT_TRUE(refusal(without, {.parallel_abort = true}));
}

TEST(MessageType, OtherThanTheDocumentedOnesIsRefusedAtOffsetZero) {
  const std::string documented = "BCORYIUDTMSEcAbPKrp";
  for (int type = 0; type < 256; ++type) {
    const std::string bytes(1, static_cast<char>(type));
    if (documented.find(bytes) != std::string::npos) continue;
    const auto error = refusal(bytes + std::string(64, '\0'));
    ASSERT_TRUE(error) << type;
    EXPECT_EQ(error->offset, 0U);
  }
}

TEST(MessageType, IsMissingFromNoBytes) {
  ASSERT_TRUE(refusal(""));
  EXPECT_EQ(refusal("")->offset, 0U);
}

/// A byte in the first message of a type in a scenario, and the values the protocol allows there.
struct FixedByte {
  const char* what;
  const char* scenario;
  char type;
  std::size_t offset;
  std::string allowed;
};

void PrintTo(const FixedByte& fixed, std::ostream* out) {
  *out << fixed.what;
}

const golden::Captured& first_of(char type, const golden::Scenario& scenario) {
  return scenario.captured.at(scenario.letters().find(type));
}

class FixedBytes : public testing::TestWithParam<FixedByte> {};

TEST_P(FixedBytes, RefuseAnyOtherValueWhereItStands) {
  const FixedByte& fixed = GetParam();
  const golden::Captured& one = first_of(fixed.type, golden::messages().at(fixed.scenario));
  for (int value = 0; value < 256; ++value) {
    std::string bytes = one.bytes;
    bytes.at(fixed.offset) = static_cast<char>(value);
    if (fixed.allowed.find(static_cast<char>(value)) != std::string::npos) continue;
    const auto error = refusal(bytes, one.context);
    ASSERT_TRUE(error) << fixed.what << " " << value;
    EXPECT_EQ(error->offset, fixed.offset) << fixed.what << " " << value;
  }
}

// Offsets follow the documented layouts.
INSTANTIATE_TEST_SUITE_P(
    Protocol, FixedBytes,
    testing::Values(FixedByte{"commit flags", "insert_text", 'C', 1, "\0"s},
                    FixedByte{"replica identity", "update_and_delete_keyed", 'R', 18, "dnfi"},
                    FixedByte{"column flags", "update_and_delete_keyed", 'R', 21, "\0\1"s},
                    FixedByte{"new row of an insert", "update_and_delete_keyed", 'I', 5, "N"},
                    FixedByte{"first row of an update", "update_and_delete_keyed", 'U', 5, "KON"},
                    FixedByte{"new row of an update", "update_and_delete_whole", 'U', 22, "N"},
                    FixedByte{"old row of a delete", "update_and_delete_keyed", 'D', 5, "KO"},
                    FixedByte{"kind of a value", "update_and_delete_keyed", 'I', 8, "nutb"},
                    FixedByte{"truncate options", "truncate", 'T', 5, "\0\1\2\3"s},
                    FixedByte{"message flags", "logical_messages", 'M', 1, "\0\1"s},
                    FixedByte{"first segment", "streamed_commit", 'S', 5, "\0\1"s},
                    FixedByte{"stream commit flags", "streamed_commit", 'c', 5, "\0"s},
                    FixedByte{"prepare flags", "prepared_then_committed", 'P', 1, "\0"s},
                    FixedByte{"commit prepared flags", "prepared_then_committed", 'K', 1, "\0"s},
                    FixedByte{"rollback prepared flags", "prepared_then_rolled_back", 'r', 1,
                              "\0"s},
                    FixedByte{"stream prepare flags", "streamed_then_prepared", 'p', 1, "\0"s}));

TEST(Counts, BeyondWhatRemainsAreRefusedBeforeAnythingIsReserved) {
  const std::string columns = "R\0\0\0\1s\0t\0d\xff\xff"s;
  ASSERT_TRUE(refusal(columns));
  EXPECT_EQ(refusal(columns)->offset, 10U);
  const std::string relations = "T\xff\xff\xff\xff\0\0\0\0\1"s;
  ASSERT_TRUE(refusal(relations));
  EXPECT_EQ(refusal(relations)->offset, 1U);
}

TEST(Counts, OneTooManyIsRefused) {
  EXPECT_FALSE(refusal("T\0\0\0\1\0\0\0\0\1"s));
  EXPECT_TRUE(refusal("T\0\0\0\2\0\0\0\0\1"s));
  EXPECT_FALSE(refusal("I\0\0\0\1N\0\1n"s));
  EXPECT_TRUE(refusal("I\0\0\0\1N\0\2n"s));
}

TEST(Lengths, NegativeOrBeyondTheEndAreRefused) {
  const std::string insert = "I\0\0\0\1N\0\1t"s;
  EXPECT_FALSE(refusal(insert + "\0\0\0\1x"s));
  EXPECT_TRUE(refusal(insert + "\0\0\0\2x"s));
  EXPECT_TRUE(refusal(insert + "\xff\xff\xff\xffx"s));
  EXPECT_TRUE(refusal(insert + "\x80\0\0\0x"s));
}

TEST(Strings, WithoutTheirTerminatorAreRefusedWhereTheyStart) {
  const auto error = refusal("O\0\0\0\0\0\0\0\1unended"s);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->offset, 9U);
}

TEST(Errors, NeverRepeatTheBytes) {
  const auto error = refusal("Isecret"s);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what.find("secret"), std::string_view::npos);
}

}  // namespace
