#pragma once

#include <string>
#include <vector>

#include "bench/backlog.h"
#include "bench/bench.h"
#include "bench/tools.h"

namespace walpost::bench {

struct DrainPlan {
  std::string suite;
  std::string name;
  Shape shape;
  std::vector<Tool> tools;
  int runs = 3;  ///< of each tool; fewer if the time runs out, never less than one
  Transport transport = Transport::unix_socket;
  int partitions = 6;
  bool topic_per_type = false;
  bool transactions = false;  ///< some tool publishes in Kafka transactions
  bool count_system_calls = false;
};

/// A topic and a backlog, and tools that drain it in turns. Throws with the tool's own words if one
/// fails or takes too long.
class Drains {
 public:
  Drains(Services& services, const DrainPlan& plan);
  /// Deletes the topics.
  ~Drains();
  Drains(const Drains&) = delete;
  Drains& operator=(const Drains&) = delete;

  /// Once through the backlog from its beginning.
  Run drain(const Tool& tool);
  /// A drain whose time says nothing.
  SystemCalls count_system_calls(const Tool& tool);
  /// Throws unless the topic holds each event as often as it was published.
  void check_records();

 private:
  [[nodiscard]] Job job_for(const std::string& slot) const;
  void await(const Tool& tool, test::Process& process, const std::string& slot, Run& run);
  void end(const Tool& tool, test::Process& process);

  Services& services_;
  const DrainPlan plan_;
  std::string topic_;
  Backlog backlog_;
  long published_ = 0;
};

/// All runs of a plan, if Bench::begin wants it.
void measure(Bench& bench, const DrainPlan& plan);

/// Drains that nobody looks at, until two in a row differ by less than 5 %, and eight at most: a
/// broker compiles its busy code while it works, which takes half of a core for some millions of
/// records.
void warm_up(Services& services, long rows);

}  // namespace walpost::bench
