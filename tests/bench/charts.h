#pragma once

#include <filesystem>

#include "bench/results.h"

namespace walpost::bench {

/// Draws drain.svg, latency.svg and shape.svg into the folder, each only if there are results for
/// it. Throws with gnuplot's words if it fails or isn't installed.
void draw_charts(const Results& results, const std::filesystem::path& folder);

}  // namespace walpost::bench
