#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/deadline.h"
#include "support/temp_dir.h"

namespace walpost::test {

/// How a process ended: exactly one of the two is there.
struct ExitStatus {
  std::optional<int> code;
  std::optional<int> signal;
  bool operator==(const ExitStatus&) const = default;
};
inline ExitStatus exited(int code) {
  return {code, std::nullopt};
}
inline ExitStatus killed_by(int signal) {
  return {std::nullopt, signal};
}
/// For failure messages of GoogleTest.
void PrintTo(const ExitStatus& status, std::ostream* out);

struct ProcessOptions {
  std::map<std::string, std::string> environment;  ///< added to this process's own
  std::filesystem::path working_directory;         ///< empty: this process's own
  std::string user;                                ///< run as; needs root. Empty: as this process
  /// What the kernel sends when the thread that spawned it ends, so that nothing outlives a test
  /// that crashed or was killed. A process must therefore not be spawned from a short-lived thread.
  int signal_at_death = SIGKILL;
};

/// A child process with its output in files, which is why it never blocks on a full pipe. Killed
/// and reaped by the destructor. One thread at a time.
class Process {
 public:
  /// `arguments[0]` is the program, looked up in PATH. Throws if it can't be started.
  explicit Process(std::vector<std::string> arguments, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  /// Does nothing once it has ended.
  void signal(int number);
  /// Nothing if it still runs at the deadline.
  std::optional<ExitStatus> wait(Deadline deadline);

  [[nodiscard]] std::string standard_output() const;
  [[nodiscard]] std::string standard_error() const;

  /// A place in the output so far, to look for lines only after it.
  struct Mark {
    std::size_t out = 0;
    std::size_t err = 0;
  };
  [[nodiscard]] Mark mark() const;
  /// The first whole line of either output, from `from` on, in which the regular expression
  /// matches; waits for it to be written. Nothing if the process ends or the deadline passes
  /// without one.
  std::optional<std::string> wait_for_line(const std::string& pattern, Deadline deadline,
                                           Mark from);
  std::optional<std::string> wait_for_line(const std::string& pattern, Deadline deadline) {
    return wait_for_line(pattern, deadline, Mark{});
  }

  /// Largest resident memory so far, in KiB. Only while it runs.
  [[nodiscard]] long peak_resident_kib() const;

 private:
  void reap(bool block);
  bool wait_for_output(Deadline deadline);

  TempDir files_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int watch_ = -1;  ///< inotify on both files
  std::optional<ExitStatus> status_;
};

struct Finished {
  ExitStatus status;
  std::string out;
  std::string err;
};

/// Runs a command to its end. Throws if it doesn't end by the deadline.
Finished run_to_end(std::vector<std::string> arguments, Deadline deadline,
                    const ProcessOptions& options = {});

}  // namespace walpost::test
