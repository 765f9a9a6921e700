#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/micro_measure.h"
#include "bench/micro_rows.h"
#include "golden.h"
#include "pgoutput/decode.h"
#include "pgoutput/framing.h"

namespace walpost::micro {
namespace {

/// The captured messages of proto_version 1 that begin with `letter`.
std::vector<std::string> captured(char letter) {
  std::vector<std::string> messages;
  for (const auto& [name, scenario] : golden::messages()) {
    for (const golden::Captured& one : scenario.captured) {
      if (one.bytes.front() == letter && !one.context.in_stream) messages.push_back(one.bytes);
    }
  }
  return messages;
}

/// Decodes them all; false if one can't be.
bool decode_all(const std::vector<std::string>& messages) {
  bool well = true;
  for (const std::string& message : messages) {
    auto decoded = pgoutput::decode(message);
    benchmark::DoNotOptimize(decoded);
    well = well && std::holds_alternative<pgoutput::Message>(decoded);
  }
  return well;
}

void decode_captured(benchmark::State& state, char letter, const char* counter) {
  const auto messages = captured(letter);
  if (messages.empty()) return state.SkipWithError("no such message was captured");
  const auto once = [&] { return decode_all(messages); };
  measure(state, messages.size(), once, counter);
}
BENCHMARK_CAPTURE(decode_captured, begin, 'B', allocations_a_row);
BENCHMARK_CAPTURE(decode_captured, insert, 'I', allocations_a_row);
BENCHMARK_CAPTURE(decode_captured, commit, 'C', allocations_a_row);
BENCHMARK_CAPTURE(decode_captured, update, 'U', allocations_a_row);
BENCHMARK_CAPTURE(decode_captured, delete, 'D', allocations_a_row);
BENCHMARK_CAPTURE(decode_captured, type, 'Y', allocations_a_row);
// Once for each table and connection, not for each row; it makes a list of columns.
BENCHMARK_CAPTURE(decode_captured, relation, 'R', allocations_allowed);

/// Frame and message of Begin, Insert and Commit, as captured from a walsender.
void decode_captured_transaction(benchmark::State& state) {
  std::vector<std::string> frames;
  for (const golden::Captured& one : golden::frames().at("transaction").captured) {
    constexpr std::size_t message_at = 25;
    if (one.bytes.front() == 'w' && one.bytes[message_at] != 'R') frames.push_back(one.bytes);
  }
  const auto once = [&] {
    bool well = frames.size() == 3;
    for (const std::string& bytes : frames) {
      const auto frame = pgoutput::parse_frame(bytes);
      const auto& data = std::get<pgoutput::XLogData>(std::get<pgoutput::Frame>(frame));
      auto decoded = pgoutput::decode(data.payload);
      benchmark::DoNotOptimize(decoded);
      well = well && std::holds_alternative<pgoutput::Message>(decoded);
    }
    return well;
  };
  measure(state, 1, once);
}
BENCHMARK(decode_captured_transaction);

void decode_insert(benchmark::State& state) {
  const auto messages =
      insert_messages({.payload_bytes = static_cast<std::size_t>(state.range(0))}, 64);
  measure(state, messages.size(), [&] { return decode_all(messages); });
}
BENCHMARK(decode_insert)->ArgName("payload")->Arg(100)->Arg(400)->Arg(1600)->Arg(16384);

}  // namespace
}  // namespace walpost::micro
