#pragma once

#include <string>

#include "bench/results.h"

namespace walpost::bench {

/// What charts.gp draws: a line a case, values separated by blanks, names in quotes. The first line
/// has the names of the columns. Empty if there is nothing to draw.
///
/// Medians of rows/s, one column a tool; a "?" where a case lacks one.
[[nodiscard]] std::string drain_data(const Results& results);
/// Milliseconds, by rate.
[[nodiscard]] std::string latency_data(const Results& results);
/// walpost's rows/s relative to pg_recvlogical's.
[[nodiscard]] std::string shape_data(const Results& results);

}  // namespace walpost::bench
