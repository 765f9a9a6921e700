#include "bench/peers.h"

#include <fstream>
#include <memory>

#include "bench/backlog.h"
#include "support/free_port.h"
#include "support/temp_dir.h"

namespace walpost::bench {
namespace {

std::string worker_properties(const Job& job, const std::filesystem::path& folder) {
  return "bootstrap.servers=" + job.bootstrap +
         "\nlisteners=http://127.0.0.1:" + std::to_string(test::free_port()) +
         "\nkey.converter=org.apache.kafka.connect.storage.StringConverter"
         "\nvalue.converter=org.apache.kafka.connect.storage.StringConverter"
         "\nplugin.discovery=only_scan"
         "\noffset.storage.file.filename=" +
         (folder / "offsets").string() + "\n";
}

std::string connector_properties(const Job& job) {
  return "name=outbox"
         "\nconnector.class=io.debezium.connector.postgresql.PostgresConnector"
         "\nplugin.name=pgoutput"
         "\nsnapshot.mode=no_data"
         "\npublication.autocreate.mode=disabled"
         "\ntopic.prefix=bench"
         "\ntable.include.list=public.outbox"
         "\ntransforms=outbox"
         "\ntransforms.outbox.type=io.debezium.transforms.outbox.EventRouter"
         "\ntransforms.outbox.route.by.field=aggregate_type"
         "\ntransforms.outbox.table.field.event.key=aggregate_id"
         "\ntransforms.outbox.table.fields.additional.placement=event_type:header:eventType"
         "\ntransforms.outbox.route.topic.replacement=" +
         job.topic + "\ndatabase.hostname=" + job.tcp.host +
         "\ndatabase.port=" + std::to_string(job.tcp.port) + "\ndatabase.user=" + job.tcp.user +
         "\ndatabase.password=none\ndatabase.dbname=" + job.tcp.database +
         "\nslot.name=" + job.slot + "\npublication.name=" + Backlog::publication + "\n";
}

// Nothing that isn't needed, larger queues, batches that don't wait for half a second.
constexpr const char* tuned_connector =
    "skipped.operations=u,d,t"
    "\ntombstones.on.delete=false"
    "\nextended.headers.enabled=false"
    "\nmax.batch.size=16384"
    "\nmax.queue.size=65536"
    "\npoll.interval.ms=5"
    "\nproducer.override.linger.ms=5"
    "\nproducer.override.batch.size=262144"
    "\nproducer.override.buffer.memory=67108864\n";

}  // namespace

Tool debezium(const std::filesystem::path& folder, Settings settings) {
  const auto files = std::make_shared<test::TempDir>();
  const auto command = [folder, files, settings](const Job& job) -> std::vector<std::string> {
    const auto worker = files->path() / "worker.properties";
    const auto connector = files->path() / "connector.properties";
    std::filesystem::remove(files->path() / "offsets");
    std::ofstream(worker) << worker_properties(job, files->path());
    std::ofstream(connector) << connector_properties(job)
                             << (settings == Settings::tuned ? tuned_connector : "");
    return {"java",
            "-Xmx1g",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            (folder / "debezium/*").string(),
            "org.apache.kafka.connect.cli.ConnectStandalone",
            worker.string(),
            connector.string()};
  };
  return {settings == Settings::tuned ? "Debezium tuned" : "Debezium", command,
          Ending::when_published, true};
}

Tool mq_bridge(const std::filesystem::path& folder, Settings settings) {
  const auto command = [folder, settings](const Job& job) -> std::vector<std::string> {
    const std::string url = "postgres://" + job.tcp.user + "@" + job.tcp.host + ":" +
                            std::to_string(job.tcp.port) + "/" + job.tcp.database;
    std::vector<std::string> words{(folder / "mq-bridge/bin/python").string(),
                                   WALPOST_MQ_BRIDGE_ROUTE,
                                   url,
                                   job.slot,
                                   Backlog::publication,
                                   job.bootstrap,
                                   job.topic};
    if (settings == Settings::tuned) words.emplace_back("1000");
    return words;
  };
  return {settings == Settings::tuned ? "mq-bridge, 1,000" : "mq-bridge", command,
          Ending::when_published, true};
}

}  // namespace walpost::bench
