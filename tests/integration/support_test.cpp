// The fixtures' own promises, on which every other integration test rests.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/free_port.h"
#include "support/kafka_broker.h"
#include "support/kafka_frames.h"
#include "support/kafka_reader.h"
#include "support/postgres_server.h"
#include "support/process.h"

namespace walpost::test {
namespace {

Deadline seconds(int count) {
  return Deadline::in(std::chrono::seconds(count));
}

TEST(Process, ReportsExitCodeAndBothOutputs) {
  const Finished finished =
      run_to_end({"sh", "-c", "echo $GREETING; echo oops >&2; exit 7"}, seconds(10),
                 {.environment = {{"GREETING", "hello"}}, .working_directory = {}, .user = {}});
  EXPECT_EQ(finished.status, exited(7));
  EXPECT_EQ(finished.out, "hello\n");
  EXPECT_EQ(finished.err, "oops\n");
}

TEST(Process, ReportsTheSignalThatEndedIt) {
  Process process({"sleep", "60"});
  EXPECT_TRUE(process.running());
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait(seconds(10)), killed_by(SIGKILL));
}

TEST(Process, WaitsForALineUntilItIsWritten) {
  Process process(
      {"sh", "-c",
       "echo starting; read -t 0.2 x <> /dev/zero; echo ready 42; exec tail -f /dev/null"});
  EXPECT_EQ(process.wait_for_line("ready \\d+", seconds(10)), "ready 42");
  const Process::Mark mark = process.mark();
  EXPECT_EQ(process.wait_for_line("ready", Deadline::in(milliseconds(50)), mark), std::nullopt);
}

TEST(Process, WaitingForALineEndsWithTheProcess) {
  Process process({"sh", "-c", "echo bye"});
  EXPECT_EQ(process.wait_for_line("never", seconds(60)), std::nullopt);
}

TEST(Process, DiesWithTheTestThatStartedIt) {
  TempDir folder;
  const std::string file = (folder.path() / "pid").string();
  const pid_t test = fork();
  if (test == 0) {
    setenv("TMPDIR", folder.path().c_str(), 1);  // nothing removes the child's files
    Process child({"sleep", "600"});
    std::ofstream(file) << child.pid() << std::endl;
    ::kill(getpid(), SIGKILL);
  }
  waitpid(test, nullptr, 0);
  pid_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  const std::string stat = "/proc/" + std::to_string(child) + "/stat";
  EXPECT_TRUE(eventually(
      [&] {  // gone, or a zombie that a careless init has not reaped yet
        std::string id, name, state;
        return !(std::ifstream(stat) >> id >> name >> state) || state == "Z";
      },
      seconds(10)));
}

TEST(Process, TellsPeakMemoryOfTheProgramAndNotOfTheTest) {
  Process process({"sh", "-c", "echo up; exec tail -f /dev/null"});
  ASSERT_TRUE(process.wait_for_line("up", seconds(10)));
  // Between the two programs there is a moment with hardly any.
  EXPECT_TRUE(eventually([&] { return process.peak_resident_kib() > 100; }, seconds(10)));
  EXPECT_LT(process.peak_resident_kib(), 50 * 1024);
}

// Size, kind, version, number, and a body.
std::string kafka_request(char kind, char number, const std::string& body) {
  const char size = static_cast<char>(8 + body.size());
  return std::string{0, 0, 0, size, 0, kind, 0, 9, 0, 0, 1, number} + body;
}

TEST(KafkaFrames, GivesEveryHeadOnceHoweverTheBytesAreCut) {
  const std::string bytes = kafka_request(0, 7, "records") + kafka_request(3, 8, "") +
                            kafka_request(0, 9, std::string(100, '\0'));
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    KafkaFrames frames(request_head);
    std::vector<std::uint32_t> produced;
    std::size_t heads = 0;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      for (const std::string& head : frames.feed(std::string_view(bytes).substr(at, piece))) {
        ++heads;
        if (request_kind(head) == produce_request) produced.push_back(request_number(head));
      }
    EXPECT_EQ(heads, 3u);
    EXPECT_THAT(produced, testing::ElementsAre(256u + 7u, 256u + 9u));
  }
}

TEST(FreePort, GivesNoPortTwice) {
  EXPECT_NE(free_port(), free_port());
}

TEST(Postgres, AnswersOverBothTransportsWithLogicalWal) {
  PostgresServer server;
  EXPECT_EQ(server.value("SHOW wal_level"), "logical");
  EXPECT_EQ(Session(server.conninfo(Transport::tcp)).value("SELECT 1"), "1");
  EXPECT_EQ(Session(server.url()).value("SELECT 2"), "2");
}

TEST(Postgres, KeepsDataAndPortOverStopAndStart) {
  PostgresServer server({.settings = {{"work_mem", "5MB"}}, .durable = true});
  const auto port = server.port();
  server.exec("CREATE TABLE t (a text); INSERT INTO t VALUES ('kept'), (NULL)");
  server.stop(StopMode::fast);
  server.set("work_mem", "6MB");
  server.start();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(server.value("SHOW work_mem"), "6MB");
  EXPECT_EQ(server.rows("SELECT a FROM t"), (SqlRows{{"kept"}, {std::nullopt}}));
}

TEST(Postgres, RecoversFromAKillWithCommittedDataAndOpenSessions) {
  PostgresServer server({.settings = {}, .durable = true});
  server.exec("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
  Session open = server.connect();
  open.exec("BEGIN; INSERT INTO t VALUES (2)");
  server.kill();
  server.start();
  EXPECT_EQ(server.value("SELECT count(*) FROM t"), "1");
}

TEST(Postgres, SmartStopWaitsForSessions) {
  PostgresServer server;
  auto session = std::make_unique<Session>(server.connect());
  server.request_stop(StopMode::smart);
  EXPECT_FALSE(server.wait_stopped(Deadline::in(milliseconds(300))));
  session.reset();
  EXPECT_TRUE(server.wait_stopped(seconds(30)));
}

TEST(Postgres, SessionsBlockOnEachOtherAndReportSqlstate) {
  PostgresServer server;
  server.exec("CREATE TABLE t (a int PRIMARY KEY)");
  Session first = server.connect();
  Session second = server.connect();
  first.exec("BEGIN; INSERT INTO t VALUES (1)");
  second.send("INSERT INTO t VALUES (1)");
  EXPECT_TRUE(eventually(
      [&] {
        return server.value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
      },
      seconds(10)));
  first.exec("COMMIT");
  try {
    second.finish();
    FAIL() << "the second insert succeeded";
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate, "23505");
  }
}

void produce(const std::string& bootstrap, const std::string& topic, const std::string& lines) {
  TempDir folder;
  const std::string file = (folder.path() / "lines").string();
  std::ofstream(file) << lines;
  // Without idempotence kcat reorders what a broker that was just started makes it repeat.
  const Finished kcat =
      run_to_end({"kcat", "-P", "-b", bootstrap, "-X", "enable.idempotence=true", "-t", topic, "-K",
                  ":", "-l", "-H", "color=red", "-H", "color=blue", file},
                 seconds(30));
  ASSERT_EQ(kcat.status, exited(0)) << kcat.err;
}

TEST(Kafka, ReaderSeesWhatAnotherClientWroteWithKeysAndHeaders) {
  KafkaBroker& broker = KafkaBroker::shared();
  const std::string topic = KafkaBroker::unique_topic("seen");
  broker.create_topic(topic, 3);
  produce(broker.bootstrap(), topic, "k:one\nk:two\nother:three\n");
  KafkaReader reader(broker.bootstrap(), topic);
  EXPECT_EQ(reader.partitions(), 3);
  const auto records = reader.read_to_end(seconds(20));
  ASSERT_EQ(records.size(), 3U);
  std::vector<std::string> of_key_k;
  for (const ReadRecord& record : records) {
    EXPECT_THAT(record.headers, ::testing::ElementsAre(::testing::Pair("color", "red"),
                                                       ::testing::Pair("color", "blue")));
    if (record.key == "k") of_key_k.push_back(record.value.value());
  }
  EXPECT_THAT(of_key_k, ::testing::ElementsAre("one", "two"));
}

TEST(Kafka, ReaderStopsAtTheDeadlineWhenRecordsAreMissing) {
  KafkaBroker& broker = KafkaBroker::shared();
  const std::string topic = KafkaBroker::unique_topic("short");
  broker.create_topic(topic);
  produce(broker.bootstrap(), topic, "k:only\n");
  KafkaReader reader(broker.bootstrap(), topic);
  EXPECT_EQ(reader.read(2, Deadline::in(milliseconds(1500))).size(), 1U);
}

TEST(Kafka, CreatesNoTopicByItselfAndRefusesADouble) {
  KafkaBroker& broker = KafkaBroker::shared();
  const std::string topic = KafkaBroker::unique_topic("double");
  EXPECT_THROW(KafkaReader(broker.bootstrap(), topic), std::runtime_error);
  broker.create_topic(topic, 1, {{"max.message.bytes", "2000"}});
  EXPECT_THROW(broker.create_topic(topic), std::runtime_error);
}

TEST(Kafka, ComesBackOnTheSamePortWithItsRecordsAfterStopAndAfterKill) {
  KafkaBroker broker;
  const std::string bootstrap = broker.bootstrap();
  broker.create_topic("kept");
  produce(bootstrap, "kept", "k:first\n");
  broker.stop();
  broker.start();
  produce(bootstrap, "kept", "k:second\n");
  broker.kill();
  broker.start();
  EXPECT_EQ(broker.bootstrap(), bootstrap);
  KafkaReader reader(bootstrap, "kept");
  EXPECT_EQ(reader.read_to_end(seconds(20)).size(), 2U);
}

TEST(Kafka, AnswersNothingWhilePaused) {
  KafkaBroker broker;
  broker.create_topic("t");
  KafkaReader reader(broker.bootstrap(), "t");
  broker.pause();
  const Finished while_paused =
      run_to_end({"kcat", "-L", "-b", broker.bootstrap(), "-m", "1"}, seconds(20));
  EXPECT_NE(while_paused.status, exited(0));
  broker.resume();
  produce(broker.bootstrap(), "t", "k:v\n");
  EXPECT_EQ(reader.read(1, seconds(20)).size(), 1U);
}

}  // namespace
}  // namespace walpost::test
