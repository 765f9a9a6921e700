#pragma once

#include <string>

#include "bench/budget.h"
#include "bench/results.h"
#include "bench/services.h"

namespace walpost::bench {

struct SuiteOptions {
  std::string peers;    ///< the folder that peers/fetch has filled; empty: without them
  std::string only;     ///< cases with these words in their name; empty: all
  int runs = 3;         ///< of each tool in a drain
  long rows = 1000000;  ///< most of a backlog in growth
  Transport transport = Transport::unix_socket;
};

/// What every suite works with.
struct Bench {
  Services& services;
  Budget& budget;
  const SuiteOptions& options;
  Results& results;
  bool warm_for_single_events = false;  ///< the broker; drains warm it up for many at once

  /// Whether a case is wanted and there is time for it; what there is none for is noted.
  [[nodiscard]] bool begin(const std::string& suite, const std::string& name,
                           double expected_seconds);
  /// Says how much time is left.
  void end() const;
};

}  // namespace walpost::bench
