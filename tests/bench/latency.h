#pragma once

#include <string>

#include "bench/bench.h"

namespace walpost::bench {

struct LatencyPlan {
  std::string suite;
  std::string name;
  int per_second = 0;
  double seconds = 0;  ///< of the measured window of each of the two passes
  std::string guarantee = "at_least_once";
  Transport transport = Transport::unix_socket;
};

/// Two passes at one rate with default settings, if Bench::begin wants them: in one the records
/// bear the time when walpost handed them over, in the other that when the broker appended them.
/// The first of a process comes after a pass that nobody looks at. Throws unless every event
/// arrives exactly once.
void measure(Bench& bench, const LatencyPlan& plan);

}  // namespace walpost::bench
