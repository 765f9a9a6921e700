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

}  // namespace

Tool debezium(const std::filesystem::path& folder) {
  const auto files = std::make_shared<test::TempDir>();
  const auto command = [folder, files](const Job& job) -> std::vector<std::string> {
    const auto worker = files->path() / "worker.properties";
    const auto connector = files->path() / "connector.properties";
    std::filesystem::remove(files->path() / "offsets");
    std::ofstream(worker) << worker_properties(job, files->path());
    std::ofstream(connector) << connector_properties(job);
    return {"java",
            "-Xmx1g",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            (folder / "debezium/*").string(),
            "org.apache.kafka.connect.cli.ConnectStandalone",
            worker.string(),
            connector.string()};
  };
  return {"Debezium", command, Ending::when_published, true};
}

Tool mq_bridge(const std::filesystem::path& folder) {
  const auto command = [folder](const Job& job) -> std::vector<std::string> {
    const std::string url = "postgres://" + job.tcp.user + "@" + job.tcp.host + ":" +
                            std::to_string(job.tcp.port) + "/" + job.tcp.database;
    return {(folder / "mq-bridge/bin/python").string(),
            WALPOST_MQ_BRIDGE_ROUTE,
            url,
            job.slot,
            Backlog::publication,
            job.bootstrap,
            job.topic};
  };
  return {"mq-bridge", command, Ending::when_published, true};
}

}  // namespace walpost::bench
