// Every command of the README that is fenced as `sh` is run, in order, against a real PostgreSQL
// and a real Kafka; every fence of another kind must name something that another test or CI runs.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/kafka_broker.h"
#include "support/kafka_reader.h"
#include "support/postgres_server.h"
#include "support/walpost_process.h"

namespace walpost::test {
namespace {

std::string readme() {
  std::ifstream file(WALPOST_README);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The contents of the fences of one language.
std::vector<std::string> fences(const std::string& language) {
  std::vector<std::string> found;
  std::istringstream lines(readme());
  bool inside = false;
  bool wanted = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      wanted = inside && line == "```" + language;
      if (wanted) found.emplace_back();
    } else if (wanted) {
      found.back() += line + "\n";
    }
  }
  return found;
}

Finished shell(const std::string& script, const PostgresServer& server, const KafkaBroker& broker) {
  const std::string path = std::filesystem::path(WALPOST_BINARY).parent_path().string();
  return run_to_end(
      {"bash", "-euc", "export PATH=" + path + ":$PATH\n" + script},
      Deadline::in(milliseconds(60000)),
      {.environment = {{"POSTGRES", server.conninfo()}, {"KAFKA", broker.bootstrap()}},
       .working_directory = {},
       .user = {}});
}

TEST(Readme, ItsCommandsDoWhatItSays) {
  PostgresServer server;
  KafkaBroker& broker = KafkaBroker::shared();
  const auto scripts = fences("sh");
  ASSERT_GE(scripts.size(), 2u);
  for (const auto& script : scripts) {
    const Finished done = shell(script, server, broker);
    EXPECT_EQ(done.status, exited(0)) << script << done.out << done.err;
  }
  // The statements work on what the commands made, and the record is the one described.
  for (const auto& statement : fences("sql")) EXPECT_NO_THROW(server.exec(statement)) << statement;
  Walpost walpost({.postgres = server.conninfo(),
                   .kafka = broker.bootstrap(),
                   .set = {"route.create_topics={partitions: 6, replication: 1}"},
                   .extra = {},
                   .process = {}});
  ASSERT_TRUE(eventually(
      [&] {
        return server.value(
                   "select confirmed_flush_lsn >= pg_current_wal_lsn() from "
                   "pg_replication_slots where slot_name = 'walpost'") == "t";
      },
      Deadline::in(milliseconds(30000))))
      << walpost.log();
  KafkaReader reader(broker.bootstrap(), "outbox.event.order");
  const auto records = reader.read_to_end(Deadline::in(milliseconds(20000)));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, "order-17");
  EXPECT_EQ(records[0].value, "{\"total\": 4200}");
  EXPECT_EQ(records[0].header("traceId"), "9a2d5f");
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(Readme, ItsConfigurationIsValidAsItStands) {
  PostgresServer server;
  TempDir folder;
  std::string yaml = fences("yaml").at(0);
  const std::string secret = "/run/secrets/pg";
  const auto secret_file = folder.path() / "pg";
  std::ofstream(secret_file) << "s3cret\n";
  yaml.replace(yaml.find(secret), secret.size(), secret_file.string());
  std::ofstream(folder.path() / "walpost.yaml") << yaml;
  // The servers it names aren't here: what is checked is that nothing is wrong with the file
  // itself.
  const Finished done = run_to_end({WALPOST_BINARY, "check", "-c", folder.path() / "walpost.yaml",
                                    "--postgres", server.conninfo(), "--kafka", "127.0.0.1:1"},
                                   Deadline::in(milliseconds(60000)));
  EXPECT_EQ(done.status, exited(1)) << done.out << done.err;
}

}  // namespace
}  // namespace walpost::test
