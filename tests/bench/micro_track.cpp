#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/micro_measure.h"
#include "pgoutput/lsn.h"
#include "walpost/relay/ack_tracker.h"

namespace walpost::micro {
namespace {

using relay::AckTracker;
using relay::Token;

constexpr std::size_t in_flight = 10000;  // records, before the first is acknowledged

enum class Order { as_sent, reversed, shuffled };

/// In which order the reports of so many records come, by the number of the record.
std::vector<std::size_t> reports_in(Order order) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < in_flight; ++i) numbers.push_back(i);
  if (order == Order::reversed) std::ranges::reverse(numbers);
  if (order == Order::shuffled) std::ranges::shuffle(numbers, std::mt19937(20261201));
  return numbers;
}

/// Begin, records, commit, and later a report of each: a row's whole way through the tracker.
void track(benchmark::State& state, Order order) {
  const auto rows_a_transaction = static_cast<std::size_t>(state.range(0));
  const auto reports = reports_in(order);
  AckTracker tracker;
  std::vector<Token> tokens(in_flight);
  pgoutput::Lsn lsn{0x16B374D848};
  const auto once = [&] {
    for (std::size_t i = 0; i < in_flight;) {
      tracker.begin(lsn, {});
      for (std::size_t row = 0; row < rows_a_transaction; ++row)
        tokens[i++] = tracker.add_record(0);
      lsn.value += 48;
      tracker.commit(lsn);
    }
    for (const std::size_t number : reports) tracker.delivered(tokens[number]);
    return tracker.idle() && tracker.confirmable() == lsn;
  };
  measure(state, in_flight, once);
}
BENCHMARK_CAPTURE(track, in_order, Order::as_sent)->ArgName("rows")->Arg(1)->Arg(100)->Arg(10000);
BENCHMARK_CAPTURE(track, reversed, Order::reversed)->ArgName("rows")->Arg(1)->Arg(100)->Arg(10000);
BENCHMARK_CAPTURE(track, shuffled, Order::shuffled)->ArgName("rows")->Arg(1)->Arg(100)->Arg(10000);

}  // namespace
}  // namespace walpost::micro
