#include "bench/machine.h"

#include <librdkafka/rdkafka.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace walpost::bench {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

}  // namespace

Machine describe_machine(Services& services) {
  return {.cpu = processor(),
          .cores = sysconf(_SC_NPROCESSORS_ONLN),
          .kernel = kernel(),
          .postgres = services.postgres_version(),
          .kafka = services.kafka_version(),
          .librdkafka = rd_kafka_version_str(),
          .build = WALPOST_BUILD_TYPE};
}

}  // namespace walpost::bench
