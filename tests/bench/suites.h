#pragma once

#include "bench/bench.h"

namespace walpost::bench {

/// Each measures its cases one after the other, notes in the results what there is no time for, and
/// throws if a tool fails or a topic doesn't hold what it should.
void drain_suite(Bench& bench);
/// Other tools that publish an outbox, if SuiteOptions name their folder.
void peers_suite(Bench& bench);
void shape_suite(Bench& bench);
void guarantee_suite(Bench& bench);
void latency_suite(Bench& bench);
void start_suite(Bench& bench);
void growth_suite(Bench& bench);
/// For CI. False if walpost drains less than 0.9 times as fast as pg_recvlogical reads, beyond what
/// chance explains, or takes more than 1.1 times its CPU time.
[[nodiscard]] bool gate_suite(Bench& bench);

}  // namespace walpost::bench
