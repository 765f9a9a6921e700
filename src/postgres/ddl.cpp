#include "ddl.h"

#include "walpost/postgres/setup.h"

namespace walpost::postgres {

std::string outbox_ddl(OutboxPreset preset, const std::string& table) {
  const std::string create = "CREATE TABLE " + parse_table(table).sql();
  switch (preset) {
    case OutboxPreset::standard:
      return create + R"( (
  id             uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
  aggregate_type text        NOT NULL,
  aggregate_id   text        NOT NULL,
  event_type     text        NOT NULL,
  payload        jsonb       NOT NULL,
  headers        jsonb,
  created_at     timestamptz NOT NULL DEFAULT now()
);
)";
    case OutboxPreset::debezium:
      return create + R"( (
  id            uuid         PRIMARY KEY DEFAULT gen_random_uuid(),
  aggregatetype varchar(255) NOT NULL,
  aggregateid   varchar(255) NOT NULL,
  type          varchar(255) NOT NULL,
  payload       jsonb        NOT NULL
);
)";
  }
  return {};
}

std::string publication_ddl(const std::string& publication,
                            const std::vector<TableReference>& tables) {
  std::string sql = "CREATE PUBLICATION " + quote_identifier(publication) + " FOR TABLE ";
  for (std::size_t i = 0; i < tables.size(); ++i) sql += (i == 0 ? "" : ", ") + tables[i].sql();
  return sql + " WITH (publish = 'insert', publish_via_partition_root = true);";
}

std::string slot_ddl(const std::string& slot) {
  return "SELECT pg_catalog.pg_create_logical_replication_slot(" + quote_literal(slot) +
         ", 'pgoutput');";
}

}  // namespace walpost::postgres
