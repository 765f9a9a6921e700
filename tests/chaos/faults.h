#pragma once

#include <vector>

namespace walpost::test {

class ChaosWorld;

/// Something that goes wrong, and is well again when `apply` returns; what it leaves to recover
/// from is walpost's to do.
struct Fault {
  const char* name;
  void (*apply)(ChaosWorld& world);
};

/// Processes of walpost that are killed, stopped, put to sleep.
std::vector<Fault> walpost_faults();
/// PostgreSQL that stops, crashes, ends connections, has no room.
std::vector<Fault> postgres_faults();
/// Brokers that die, bounce, hang.
std::vector<Fault> kafka_faults();
/// Connections to both that break, stall, slow down.
std::vector<Fault> network_faults();
/// What people do to topics and publications, and mend as walpost says.
std::vector<Fault> operator_faults();

}  // namespace walpost::test
