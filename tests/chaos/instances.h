#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/deadline.h"
#include "support/walpost_process.h"

namespace walpost::test {

/// Several instances of walpost on one slot, each started again when it has ended. An end that
/// neither a test brought about nor a fault excuses is an error.
class Instances {
 public:
  Instances(WalpostOptions options, std::size_t count);

  /// The one that holds the slot, as far as logs tell; waits until there is one, or throws.
  Walpost& holder();
  Walpost& at(std::size_t index) { return *all_[index]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  /// Starts those that have ended. Throws for an end that nothing excuses.
  void revive();
  /// Until forgive_nothing(), an end with this exit code and these words in the log is as it should
  /// be.
  void excuse(int exit_code, const std::string& words);
  void forgive_nothing() { excuses_.clear(); }
  /// Waits for such an end. Throws if none comes or another one.
  void await_excused_end(Deadline deadline);

  /// SIGTERM to all; throws for an end that isn't a clean one.
  void stop_all();
  void kill_all();
  void start_all();

  /// The last lines of all.
  [[nodiscard]] std::string logs() const;

 private:
  struct Excuse {
    int exit_code;
    std::string words;
  };
  [[nodiscard]] bool ended_excused(Walpost& instance) const;

  WalpostOptions options_;
  std::vector<std::unique_ptr<Walpost>> all_;
  std::vector<Excuse> excuses_;
};

}  // namespace walpost::test
