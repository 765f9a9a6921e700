#include <benchmark/benchmark.h>

#include <string>
#include <variant>
#include <vector>

#include "bench/micro_measure.h"
#include "bench/micro_rows.h"
#include "pgoutput/decode.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"

namespace walpost::micro {
namespace {

using outbox::RouteOptions;

/// One row after the other as an Event, each valid until the next: routing can't be had without the
/// mapper's scratch space.
class MappedRow {
 public:
  explicit MappedRow(const RowShape& shape)
      : relation_(relation_message(shape)), row_(insert_messages(shape, 1).front()) {
    const auto described = pgoutput::decode(relation_);
    mapper_.learn(std::get<pgoutput::Relation>(std::get<pgoutput::Message>(described)));
    const auto decoded = pgoutput::decode(row_);
    const auto& insert = std::get<pgoutput::Insert>(std::get<pgoutput::Message>(decoded));
    event_ = std::get<outbox::Event>(mapper_.map(insert, {pgoutput::Lsn{0x16B374D848}, 0, {}}));
  }
  [[nodiscard]] outbox::Event& event() { return event_; }

 private:
  std::string relation_;
  std::string row_;
  outbox::Mapper mapper_{{}};
  outbox::Event event_;
};

/// Events into records.
void route(benchmark::State& state, const RouteOptions& options) {
  constexpr std::size_t default_headers = 5;
  constexpr std::uint32_t rows = 64;
  const int row_headers = static_cast<int>(state.range(0));
  MappedRow row({.headers = row_headers});
  outbox::Router router{options};
  const std::size_t headers =
      static_cast<std::size_t>(row_headers) + default_headers + options.headers.size();
  const auto once = [&] {
    bool well = true;
    for (std::uint32_t i = 0; i < rows; ++i) {
      row.event().position.ordinal = i;
      auto routed = router.route(row.event());
      benchmark::DoNotOptimize(routed);
      const auto* record = std::get_if<outbox::Record>(&routed);
      well = well && record != nullptr && record->headers.size() == headers;
    }
    return well;
  };
  measure(state, rows, once);
}

RouteOptions with_templates() {
  return {.topic = "{schema}.{table}.{aggregate_type}",
          .key = "{aggregate_type}/{aggregate_id}",
          .headers = {{"origin", "table {table}, event {event_type} of {aggregate_id}"}}};
}

void each_number_of_headers(benchmark::internal::Benchmark* registered) {
  registered->ArgName("headers")->Arg(0)->Arg(2)->Arg(10);
}
BENCHMARK_CAPTURE(route, fixed_topic, RouteOptions{.topic = "orders"})
    ->Apply(each_number_of_headers);
BENCHMARK_CAPTURE(route, topic_by_column, RouteOptions{.topic = "outbox.event.{aggregate_type}"})
    ->Apply(each_number_of_headers);
BENCHMARK_CAPTURE(route, topic_by_event_type,
                  RouteOptions{.topics = {{"OrderPlaced", "orders"}, {"OrderPaid", "payments"}}})
    ->Apply(each_number_of_headers);
BENCHMARK_CAPTURE(route, templates, with_templates())->Apply(each_number_of_headers);

}  // namespace
}  // namespace walpost::micro
