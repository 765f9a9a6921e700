#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "support/process.h"

namespace walpost::bench {

/// CPU seconds, from /proc in steps of 10 ms.
///
/// Of a process with all its threads.
[[nodiscard]] double cpu_of(pid_t process);
/// Of a process, its children, and those of its children that have ended: a PostgreSQL server's.
[[nodiscard]] double cpu_of_family(pid_t parent);

struct CpuTime {
  double user = 0;
  double system = 0;
};
/// Of all children of this process that have been waited for, in microsecond steps.
[[nodiscard]] CpuTime cpu_of_ended_children();

/// The cores' time since boot, to be subtracted.
struct CoreTime {
  double busy = 0;
  double total = 0;
};
[[nodiscard]] CoreTime core_time();
/// 0 to 1, over all cores.
[[nodiscard]] double busy_share(const CoreTime& from, const CoreTime& to);

/// Counts what a process calls, by perf where the kernel lets it, else by strace, which slows it
/// down ten times and more. Lives on the thread that starts processes.
class SystemCallCounter {
 public:
  explicit SystemCallCounter(pid_t process);

  /// REQUIRES: the process has ended. Nothing if neither tool may count.
  std::optional<long> count();

 private:
  bool by_perf_;
  std::unique_ptr<test::Process> counter_;
};

}  // namespace walpost::bench
