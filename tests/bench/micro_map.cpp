#include <benchmark/benchmark.h>

#include <string>
#include <variant>
#include <vector>

#include "bench/micro_measure.h"
#include "bench/micro_rows.h"
#include "pgoutput/decode.h"
#include "walpost/outbox/mapper.h"

namespace walpost::micro {
namespace {

/// Decoded Inserts into Events.
void map(benchmark::State& state, Payload payload) {
  const RowShape shape{.payload = payload,
                       .payload_bytes = static_cast<std::size_t>(state.range(0)),
                       .headers = static_cast<int>(state.range(1))};
  outbox::Mapper mapper{{}};
  const std::string relation = relation_message(shape);
  const auto described = pgoutput::decode(relation);
  mapper.learn(std::get<pgoutput::Relation>(std::get<pgoutput::Message>(described)));

  const auto messages = insert_messages(shape, 64);
  std::vector<pgoutput::Insert> inserts;
  for (const std::string& message : messages) {
    const auto decoded = pgoutput::decode(message);
    inserts.push_back(std::get<pgoutput::Insert>(std::get<pgoutput::Message>(decoded)));
  }
  const auto once = [&] {
    bool well = true;
    outbox::Position position{pgoutput::Lsn{0x16B374D848}, 0, {}};
    for (const pgoutput::Insert& insert : inserts) {
      auto mapped = mapper.map(insert, position);
      benchmark::DoNotOptimize(mapped);
      const auto* event = std::get_if<outbox::Event>(&mapped);
      well = well && event != nullptr && event->payload->size() == shape.payload_bytes;
      ++position.ordinal;
    }
    return well;
  };
  measure(state, inserts.size(), once);
}
BENCHMARK_CAPTURE(map, json, Payload::json)
    ->ArgNames({"payload", "headers"})
    ->ArgsProduct({{100, 400, 1600, 16384}, {0, 2, 10}});
BENCHMARK_CAPTURE(map, bytea, Payload::bytea)
    ->ArgNames({"payload", "headers"})
    ->ArgsProduct({{100, 400, 1600, 16384}, {0, 2, 10}});

}  // namespace
}  // namespace walpost::micro
