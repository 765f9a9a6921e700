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

std::string dead_letter_ddl() {
  return R"(CREATE SCHEMA IF NOT EXISTS walpost;
CREATE TABLE IF NOT EXISTS walpost.dead_letter (
  id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slot          text        NOT NULL,
  commit_lsn    pg_lsn      NOT NULL,
  ordinal       bigint      NOT NULL, -- number among the events of its transaction
  committed_at  timestamptz NOT NULL,
  event_id      text,
  table_name    text        NOT NULL,
  topic         text,
  key           text,
  headers       json        NOT NULL, -- [["name", "value"], ...]
  value         bytea,
  row_headers   text,                 -- as the row has them, where they can't be read
  reason        text        NOT NULL,
  attempts      integer     NOT NULL DEFAULT 1,
  first_failure timestamptz NOT NULL DEFAULT now(),
  last_failure  timestamptz NOT NULL DEFAULT now(),
  state         text        NOT NULL CHECK (state IN ('dead', 'parked', 'published', 'discarded')),
  UNIQUE (slot, commit_lsn, ordinal, committed_at)
);
CREATE INDEX IF NOT EXISTS dead_letter_parked ON walpost.dead_letter (slot, key, commit_lsn, ordinal) WHERE state = 'parked';
CREATE TABLE IF NOT EXISTS walpost.parked_key (
  slot          text        NOT NULL,
  key           text        NOT NULL,
  commit_lsn    pg_lsn      NOT NULL, -- of the event that it was parked with
  ordinal       bigint      NOT NULL,
  parked_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slot, key)
);
)";
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
