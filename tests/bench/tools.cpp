#include "bench/tools.h"

#include "bench/backlog.h"

namespace walpost::bench {

Tool pg_recvlogical() {
  const auto command = [](const Job& job) -> std::vector<std::string> {
    return {(test::postgres_binaries() / "pg_recvlogical").string(),
            "-d",
            job.conninfo,
            "-S",
            job.slot,
            "--start",
            "-o",
            "proto_version=1",
            "-o",
            std::string("publication_names=") + Backlog::publication,
            "-f",
            "/dev/null",
            "--endpos",
            job.end};
  };
  return {"pg_recvlogical", command, Ending::by_itself, false};
}

Tool lower_bound() {
  const auto command = [](const Job& job) -> std::vector<std::string> {
    return {WALPOST_LOWER_BOUND, job.conninfo, job.slot, Backlog::publication, job.end,
            job.bootstrap,       job.topic};
  };
  return {"lower bound", command, Ending::by_itself, true};
}

Tool walpost(std::string name, std::vector<std::string> settings) {
  const auto command = [settings = std::move(settings)](const Job& job) {
    std::vector<std::string> line{
        WALPOST_BINARY,
        "run",
        "--postgres",
        job.conninfo,
        "--kafka",
        job.bootstrap,
        "--set",
        "postgres.slot=" + job.slot,
        "--set",
        std::string("postgres.publication=") + Backlog::publication,
        "--set",
        "route.topic=" + job.topic + (job.per_type_topic ? "-{aggregate_type}" : "")};
    for (const std::string& setting : settings) line.insert(line.end(), {"--set", setting});
    return line;
  };
  return {std::move(name), command, Ending::when_confirmed, true};
}

}  // namespace walpost::bench
