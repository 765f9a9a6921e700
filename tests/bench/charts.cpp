#include "bench/charts.h"

#include <fstream>
#include <stdexcept>
#include <vector>

#include "bench/chart_data.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace walpost::bench {
namespace {

void draw(const std::string& chart, const std::string& data, const std::filesystem::path& folder) {
  if (data.empty()) return;
  const test::TempDir files;
  const auto table = files.path() / (chart + ".dat");
  std::ofstream(table) << data;
  const test::Finished drawn =
      test::run_to_end({"gnuplot", "-e",
                        "chart='" + chart + "'; data='" + table.string() + "'; output_file='" +
                            (folder / (chart + ".svg")).string() + "'",
                        WALPOST_BENCH_CHARTS},
                       test::Deadline::in(test::milliseconds(30000)));
  if (drawn.status != test::exited(0))
    throw std::runtime_error("gnuplot can't draw " + chart + ".svg: " + drawn.err);
}

}  // namespace

void draw_charts(const Results& results, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  draw("drain", drain_data(results), folder);
  draw("latency", latency_data(results), folder);
  draw("shape", shape_data(results), folder);
}

}  // namespace walpost::bench
