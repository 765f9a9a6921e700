#include "bench/process_cost.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace walpost::bench {
namespace {

using test::Deadline;
using test::milliseconds;
using test::Process;

constexpr const char* counted_event = "raw_syscalls:sys_enter";

struct Ticks {
  double own = 0;
  double ended_children = 0;
};

/// Fields 14 to 17 of proc(5)'s stat; the name before may hold blanks and parentheses.
Ticks ticks_of(pid_t process) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(process) + "/stat").rdbuf();
  const std::string all = text.str();
  const std::size_t name_end = all.rfind(')');
  if (name_end == std::string::npos) return {};  // it has ended
  std::istringstream fields(all.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::array<double, 4> ticks{};
  for (double& value : ticks) fields >> value;
  return {ticks[0] + ticks[1], ticks[2] + ticks[3]};
}

double seconds(double ticks) {
  static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ticks / per_second;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

bool perf_may_count() {
  static const bool may = test::run_to_end({"perf", "stat", "-x", ",", "-e", counted_event, "true"},
                                           Deadline::in(milliseconds(10000)))
                              .status == test::exited(0);
  return may;
}

std::vector<std::string> counting(bool by_perf, pid_t process) {
  const std::string id = std::to_string(process);
  if (by_perf) return {"perf", "stat", "-x", ",", "-e", counted_event, "-p", id};
  return {"strace", "-c", "-f", "-p", id};
}

std::optional<long> number_in(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return std::nullopt;
  return std::stol(found[1]);
}

}  // namespace

double cpu_of(pid_t process) {
  return seconds(ticks_of(process).own);
}

double cpu_of_family(pid_t parent) {
  const Ticks of_parent = ticks_of(parent);
  double ticks = of_parent.own + of_parent.ended_children;
  const std::string id = std::to_string(parent);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) ticks += ticks_of(child).own;
  return seconds(ticks);
}

CpuTime cpu_of_ended_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

CoreTime core_time() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  // user nice system idle iowait irq softirq steal; what follows is part of the first two.
  std::array<double, 8> ticks{};
  for (double& value : ticks) file >> value;
  CoreTime time;
  for (const double value : ticks) time.total += value;
  time.busy = time.total - ticks[3] - ticks[4];
  return time;
}

double busy_share(const CoreTime& from, const CoreTime& to) {
  const double total = to.total - from.total;
  return total > 0 ? (to.busy - from.busy) / total : 0;
}

SystemCallCounter::SystemCallCounter(pid_t process)
    : by_perf_(perf_may_count()),
      counter_(std::make_unique<Process>(counting(by_perf_, process))) {}

std::optional<long> SystemCallCounter::count() {
  if (!counter_->wait(Deadline::in(milliseconds(10000)))) return std::nullopt;
  const std::string said = counter_->standard_error();
  if (by_perf_) return number_in(said, R"((?:^|\n)(\d+),,raw_syscalls)");
  return number_in(said, R"((\d+)[ \d]*total)");
}

}  // namespace walpost::bench
