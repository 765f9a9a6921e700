#pragma once

#include <string>

#include "bench/budget.h"
#include "bench/results.h"
#include "bench/services.h"

namespace walpost::bench {

struct LatencyPlan {
  std::string suite;
  std::string name;
  int per_second = 0;
  double seconds = 0;  ///< of the measured window of each of the two passes
  std::string guarantee = "at_least_once";
  Transport transport = Transport::unix_socket;
};

/// Two passes at one rate with default settings: in one the records bear the time when walpost
/// handed them over, in the other that when the broker appended them. Nothing when there is no time
/// for it, which is noted in `results`. Throws unless every event arrives exactly once.
void measure(Services& services, const LatencyPlan& plan, Budget& budget, Results& results);

}  // namespace walpost::bench
