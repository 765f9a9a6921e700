#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/process.h"

namespace walpost::test {

/// What a command line of walpost says in these tests.
struct WalpostOptions {
  std::string postgres;            ///< --postgres; empty: not given
  std::string kafka;               ///< --kafka; empty: not given
  std::vector<std::string> set;    ///< each a --set path=value
  std::vector<std::string> extra;  ///< any other argument, at the end
  ProcessOptions process;
};

/// The built walpost binary running `walpost run`.
class Walpost {
 public:
  explicit Walpost(const WalpostOptions& options);

  /// Waits for the log line of the relay that says the slot is being read. Throws with the whole
  /// log if it ends or the deadline passes first.
  void wait_until_streaming(Deadline deadline = Deadline::in(milliseconds(20000)));
  /// SIGTERM, then its exit. Throws with the whole log if it still runs at the deadline.
  ExitStatus stop(Deadline deadline = Deadline::in(milliseconds(40000)));
  /// The exit of a run that is expected to end by itself; throws like stop().
  ExitStatus wait(Deadline deadline = Deadline::in(milliseconds(40000)));
  /// SIGKILL, then its end.
  void kill();

  [[nodiscard]] Process& process() { return *process_; }
  [[nodiscard]] std::string log() const;
  /// How often the log says so.
  [[nodiscard]] std::size_t times_logged(const std::string& what) const;

  /// Runs another command (`init`, `check`, ...) to its end.
  static Finished command(const std::string& name, const WalpostOptions& options,
                          Deadline deadline = Deadline::in(milliseconds(30000)));

 private:
  std::unique_ptr<Process> process_;
};

}  // namespace walpost::test
