#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>

#include "bench/micro_allocations.h"

namespace walpost::micro {

/// Counters of every benchmark here. A figure under the first is a promise: walpost_micro fails
/// where it is above zero. The second is for what may allocate.
inline constexpr const char* allocations_a_row = "allocs/row";
inline constexpr const char* allocations_allowed = "allocs/row (allowed)";

/// Adds the CPU time a row (in seconds, shown with a unit) and `counter`, for `rows` rows an
/// iteration.
void report(benchmark::State& state, std::size_t rows, std::size_t allocated, const char* counter);

/// Measures `once`, which handles `rows` rows and gives whether all of them went well. What it does
/// for the first time, when scratch space grows and tables are learned, is not measured.
template <typename Once>
void measure(benchmark::State& state, std::size_t rows, Once once,
             const char* counter = allocations_a_row) {
  constexpr int warm_up = 2;
  bool well = true;
  for (int i = 0; i < warm_up; ++i) well = once() && well;
  const std::size_t before = allocations();
  for ([[maybe_unused]] auto round : state) well = once() && well;
  const std::size_t allocated = allocations() - before;
  report(state, rows, allocated, counter);
  if (!well) state.SkipWithError("a row wasn't handled as it should be");
}

}  // namespace walpost::micro
