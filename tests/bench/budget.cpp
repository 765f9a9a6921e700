#include "bench/budget.h"

#include <csignal>

namespace walpost::bench {
namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void end(int /*signal*/) {
  asked_to_end = 1;
}

}  // namespace

Budget::Budget(double seconds)
    : end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
  // Not ignored, which the programs started from here would inherit.
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
}

double Budget::seconds_left() const {
  if (interrupted()) return 0;
  return std::chrono::duration<double>(end_ - Clock::now()).count();
}

bool Budget::interrupted() const {
  return asked_to_end != 0;
}

}  // namespace walpost::bench
