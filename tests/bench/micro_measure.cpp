#include "bench/micro_measure.h"

namespace walpost::micro {

using benchmark::Counter;

void report(benchmark::State& state, std::size_t rows, std::size_t allocated, const char* counter) {
  const double all_rows = static_cast<double>(state.iterations()) * static_cast<double>(rows);
  state.counters["time/row"] = Counter(all_rows, Counter::kIsRate | Counter::kInvert);
  state.counters[counter] = Counter(static_cast<double>(allocated) / all_rows);
}

}  // namespace walpost::micro
