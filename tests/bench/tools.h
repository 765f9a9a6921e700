#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/services.h"

namespace walpost::bench {

/// What one start of a tool is told.
struct Job {
  std::string conninfo;
  TcpAddress tcp = {};  ///< only of a server of ours
  std::string slot;
  std::string end;  ///< where the backlog ends, as text
  std::string bootstrap;
  std::string topic;            ///< of all events; see per_type_topic
  bool per_type_topic = false;  ///< instead: `topic`-AGGREGATE TYPE, only of walpost
};

/// When a tool is through with a backlog.
enum class Ending {
  by_itself,       ///< it exits with 0 at the backlog's end
  when_confirmed,  ///< its slot has confirmed the backlog; then it is stopped by SIGTERM
  when_published   ///< the topic has all of it; then it is killed. The time begins when its slot is
                   ///< in use: a virtual machine's start isn't what is measured
};

/// A way to read a backlog.
struct Tool {
  std::string name;
  std::function<std::vector<std::string>(const Job&)> command;
  Ending ending = Ending::by_itself;
  bool publishes = true;  ///< one record an event into the job's topic
};

/// To /dev/null: the most that PostgreSQL sends.
[[nodiscard]] Tool pg_recvlogical();
/// lower_bound.cpp.
[[nodiscard]] Tool lower_bound();
/// With `--set` for each of the settings.
[[nodiscard]] Tool walpost(std::string name = "walpost", std::vector<std::string> settings = {});

}  // namespace walpost::bench
