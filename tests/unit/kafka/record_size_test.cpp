#include "record_size.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walpost::kafka {
namespace {

// Kafka's protocol guide, "Record Batch": a batch without records is 61 bytes. The sizes of records
// below were counted by hand from the same page; tests/integration/kafka_sink_test.cpp has a broker
// count them.

TEST(RecordSize, OfTheSmallestRecord) {
  // length 1, attributes 1, timestamp 1, offset 1, key length 1, value length 1, header count 1
  EXPECT_EQ(batch_bytes({"t", "", "", {}}), 61u + 7u);
}

TEST(RecordSize, ATombstoneIsAsLongAsAnEmptyValue) {
  EXPECT_EQ(batch_bytes({"t", "k", std::nullopt, {}}), batch_bytes({"t", "k", "", {}}));
}

TEST(RecordSize, LengthsTakeOneByteUpTo63AndTwoFrom64) {
  const std::string at_63(63, 'v');
  const std::string at_64(64, 'v');
  // 63: the body is 69 bytes, whose own length takes two.
  EXPECT_EQ(batch_bytes({"t", "", at_63, {}}), 61u + 2u + 3u + 1u + 1u + 63u + 1u);
  EXPECT_EQ(batch_bytes({"t", "", at_64, {}}), 61u + 2u + 3u + 1u + 2u + 64u + 1u);
}

TEST(RecordSize, HeadersCountWithNamesAndValues) {
  const std::vector<outbox::Header> headers{{"id", "abc"}, {"none", std::nullopt}};
  // id: 1+2 +1+3; none: 1+4 +1
  EXPECT_EQ(batch_bytes({"t", "", "", headers}), 61u + 7u + 7u + 6u);
}

TEST(RecordSize, ContentIsWhatTheRecordHolds) {
  const std::vector<outbox::Header> headers{{"id", "abc"}, {"none", std::nullopt}};
  EXPECT_EQ(memory_bytes({"topic", "key", "value", headers}),
            record_overhead_bytes + headers.size() * header_overhead_bytes + 3u + 5u + 5u + 4u);
}

}  // namespace
}  // namespace walpost::kafka
