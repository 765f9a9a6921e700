#include "unit/outbox/captured_stream.h"

#include <gmock/gmock.h>

#include "pgoutput/decode.h"
#include "unit/outbox/rows.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"

namespace walpost::outbox {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

/// One published record or refusal as a line, to be compared as a whole.
std::string described(const Record& record) {
  std::string line = std::string(record.topic) + " key=" + std::string(record.key) +
                     " value=" + std::string(record.value.value_or("(null)"));
  for (const Header& header : record.headers) {
    line += " " + std::string(header.name) + "=" + std::string(header.value.value_or("(null)"));
  }
  return line;
}

std::string described(const Poison& poison) {
  return "poison " + std::to_string(static_cast<int>(poison.reason)) + " in " + poison.table;
}

/// What came out of the captured messages: one line for each row, and for each table refused.
std::vector<std::string> replay() {
  Mapper mapper{MappingOptions{}};
  Router router{{.topic = "{table}"}};
  std::vector<std::string> lines;
  for (const std::string_view hex : captured::messages) {
    const std::string bytes = from_hex(hex);
    const auto decoded = pgoutput::decode(bytes);
    const auto* message = std::get_if<pgoutput::Message>(&decoded);
    if (message == nullptr) throw std::runtime_error("a captured message does not decode");
    if (const auto* type = std::get_if<pgoutput::Type>(message)) mapper.learn(*type);
    try {
      if (const auto* relation = std::get_if<pgoutput::Relation>(message)) mapper.learn(*relation);
      if (const auto* insert = std::get_if<pgoutput::Insert>(message)) {
        const auto mapped = mapper.map(*insert, {pgoutput::Lsn{0x16B374D848}, 0, {}});
        if (const auto* poison = std::get_if<Poison>(&mapped)) {
          lines.push_back(described(*poison));
          continue;
        }
        const auto routed = router.route(std::get<Event>(mapped));
        lines.push_back(std::visit([](const auto& result) { return described(result); }, routed));
      }
    } catch (const UnmappableTable& error) {
      lines.push_back("unmappable "s + error.what());
    } catch (const ProtocolViolation& error) {
      lines.push_back("violation "s + error.what());
    }
  }
  return lines;
}

// The expectations are what the SQL in captured_stream.h inserted.
TEST(CapturedStream, EveryRowIsPublishedAsItWasInserted) {
  const std::string id = "0b3f8e5c-6f43-4f34-9c8e-2f9a5a1f6c1";
  const std::string at = " walpost-position=16/B374D848/0";
  EXPECT_THAT(
      replay(),
      ElementsAre(
          "outbox key=A1 value={\"n\": 1.10} retry=3 trace=x\xc3\xa9\n messageId=" + id +
              "1 eventType=OrderPlaced aggregateType=order occurredAt=2026-11-30T22:37:24.123456Z" +
              at,
          "debezium key=42 value=\0\xff\x61 messageId=7 eventType=Created aggregateType=user"s + at,
          "debezium key=42 value= messageId=8 eventType=Created aggregateType=user" + at,
          "effects key=a-9 value={ \"raw\":1.10 } messageId=9 eventType=email "
          "occurredAt=2026-11-30T22:37:24.5Z" +
              at,
          "poison 2 in app.outbox", "poison 0 in app.outbox", "poison 1 in app.outbox",
          "outbox key=A2 value=2 messageId=" + id + "4 eventType=Noted aggregateType=order" + at,
          "outbox key=A2 value=3 messageId=" + id + "5 aggregateType=order" + at,
          "outbox key=A2 value=plain messageId=" + id + "6 aggregateType=order" + at,
          AllOf(HasSubstr("unmappable table app.outbox"),
                HasSubstr("renamed or dropped since: payload (used as payload)"),
                HasSubstr("id, aggregate_type, aggregate_id, body, headers, created_at, note")),
          HasSubstr("violation"),
          AllOf(HasSubstr("unmappable table app.strange"), HasSubstr("aggregate_id, payload")),
          HasSubstr("violation")));
}

}  // namespace
}  // namespace walpost::outbox
