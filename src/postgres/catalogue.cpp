#include "catalogue.h"

#include <unordered_map>

#include "query.h"
#include "quoting.h"

namespace walpost::postgres {

namespace {

constexpr int postgres_15 = 150000;
constexpr int postgres_18 = 180000;

constexpr const char* server_query = R"(
SELECT pg_catalog.current_database() AS database,
       pg_catalog.pg_is_in_recovery() AS in_recovery,
       pg_catalog.current_setting('wal_level') AS wal_level,
       (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout')
         AS sender_timeout,
       (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_slot_wal_keep_size')
         AS slot_keep)";

// Columns that only some versions have are taken from the row as JSON, where absent is NULL.
constexpr const char* slot_query = R"(
SELECT s.slot_type, s.plugin, s.database, s.temporary, s.active, s.active_pid, s.wal_status,
       s.confirmed_flush_lsn,
       pg_catalog.to_jsonb(s) ->> 'two_phase' AS two_phase,
       pg_catalog.to_jsonb(s) ->> 'synced' AS synced,
       pg_catalog.to_jsonb(s) ->> 'conflicting' AS conflicting,
       pg_catalog.to_jsonb(s) ->> 'invalidation_reason' AS invalidation_reason
  FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = )";

constexpr const char* publication_query = R"(
SELECT p.puballtables, p.pubinsert, p.pubupdate OR p.pubdelete OR p.pubtruncate AS others,
       p.pubviaroot, SCHEMAS AS whole_schemas
  FROM pg_catalog.pg_publication p WHERE p.pubname = )";
constexpr const char* schemas_expression =
    "EXISTS (SELECT FROM pg_catalog.pg_publication_namespace n WHERE n.pnpubid = p.oid)";

constexpr const char* tables_query = R"(
SELECT c.oid, t.schemaname, t.tablename, c.relpersistence, c.relispartition,
       pg_catalog.to_jsonb(t) ->> 'rowfilter' AS row_filter
  FROM pg_catalog.pg_publication_tables t
  JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
 WHERE t.pubname = NAME ORDER BY t.schemaname, t.tablename)";

constexpr const char* columns_query = R"(
WITH RECURSIVE domain AS (
  SELECT d.oid, d.typbasetype AS base FROM pg_catalog.pg_type d WHERE d.typtype = 'd'
  UNION ALL
  SELECT domain.oid, d.typbasetype FROM domain
    JOIN pg_catalog.pg_type d ON d.oid = domain.base WHERE d.typtype = 'd')
SELECT c.oid, a.attname, COALESCE(b.base, a.atttypid) AS type, PUBLISHED AS published
  FROM pg_catalog.pg_publication_tables t
  JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN (SELECT domain.oid, domain.base FROM domain
               JOIN pg_catalog.pg_type x ON x.oid = domain.base AND x.typtype <> 'd') b
    ON b.oid = a.atttypid
 WHERE t.pubname = NAME ORDER BY c.oid, a.attnum)";

constexpr const char* partitions_query = R"(
SELECT c.oid, n2.nspname AS schema, l.relname AS name
  FROM pg_catalog.pg_publication_tables t
  JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
                            AND c.relkind = 'p'
  JOIN LATERAL pg_catalog.pg_partition_tree(c.oid) tree ON tree.isleaf
  JOIN pg_catalog.pg_class l ON l.oid = tree.relid
  JOIN pg_catalog.pg_namespace n2 ON n2.oid = l.relnamespace
 WHERE t.pubname = NAME AND (l.relpersistence <> 'p' OR l.relkind = 'f')
 ORDER BY n2.nspname, l.relname)";

std::string replaced(std::string sql, std::string_view placeholder, std::string_view by) {
  const auto at = sql.find(placeholder);
  return at == std::string::npos ? sql : sql.replace(at, placeholder.size(), by);
}

// Up to 17 a generated column is never sent, though 15 to 17 count it among a list's.
std::string published_expression(int version) {
  if (version < postgres_15) return "a.attgenerated = ''";
  if (version < postgres_18) return "a.attgenerated = '' AND a.attname = ANY (t.attnames)";
  return "a.attname = ANY (t.attnames)";
}

ServerFacts read_server(PGconn* connection, Wait& wait) {
  ServerFacts server;
  server.version = PQserverVersion(connection);
  const Rows rows = select(connection, server_query, wait);
  server.database = rows.string(0, "database");
  server.wal_level = rows.string(0, "wal_level");
  server.in_recovery = rows.flag(0, "in_recovery");
  server.sender_timeout =
      std::chrono::milliseconds(rows.number(0, "sender_timeout").value_or(60000));
  server.slot_keep_mebibytes = rows.number(0, "slot_keep").value_or(-1);
  return server;
}

using TablesByOid = std::unordered_map<std::int64_t, std::size_t>;

TablesByOid read_tables(PGconn* connection, const std::string& name, Wait& wait,
                        std::vector<TableFacts>& tables) {
  TablesByOid by_oid;
  const Rows rows = select(connection, replaced(tables_query, "NAME", name), wait);
  for (int row = 0; row < rows.size(); ++row) {
    TableFacts table;
    table.schema = rows.string(row, "schemaname");
    table.table = rows.string(row, "tablename");
    table.permanent = rows.text(row, "relpersistence") == "p";
    table.partition = rows.flag(row, "relispartition");
    table.row_filter = rows.string(row, "row_filter");
    by_oid.emplace(rows.number(row, "oid").value_or(0), tables.size());
    tables.push_back(std::move(table));
  }
  return by_oid;
}

void read_columns(PGconn* connection, const std::string& name, Wait& wait,
                  const TablesByOid& by_oid, std::vector<TableFacts>& tables) {
  const std::string sql = replaced(replaced(columns_query, "NAME", name), "PUBLISHED",
                                   published_expression(PQserverVersion(connection)));
  const Rows rows = select(connection, sql, wait);
  for (int row = 0; row < rows.size(); ++row) {
    const auto table = by_oid.find(rows.number(row, "oid").value_or(0));
    if (table == by_oid.end()) continue;  // published since: the stream's Relation is checked, too
    tables[table->second].columns.push_back(
        {rows.string(row, "attname"),
         static_cast<pgoutput::Oid>(rows.number(row, "type").value_or(0)),
         rows.flag(row, "published")});
  }
}

void read_partitions(PGconn* connection, const std::string& name, Wait& wait,
                     const TablesByOid& by_oid, std::vector<TableFacts>& tables) {
  const Rows rows = select(connection, replaced(partitions_query, "NAME", name), wait);
  for (int row = 0; row < rows.size(); ++row) {
    const auto table = by_oid.find(rows.number(row, "oid").value_or(0));
    if (table == by_oid.end()) continue;
    tables[table->second].partitions_without_wal.push_back(rows.string(row, "schema") + "." +
                                                           rows.string(row, "name"));
  }
}

}  // namespace

std::optional<SlotFacts> read_slot(PGconn* connection, const std::string& slot, Wait& wait) {
  const Rows rows = select(connection, slot_query + quote_literal(slot), wait);
  if (rows.empty()) return std::nullopt;
  SlotFacts facts;
  facts.logical = rows.text(0, "slot_type") == "logical";
  facts.plugin = rows.string(0, "plugin");
  facts.database = rows.string(0, "database");
  facts.temporary = rows.flag(0, "temporary");
  facts.two_phase = rows.flag(0, "two_phase");
  facts.synced = rows.flag(0, "synced");
  facts.active = rows.flag(0, "active");
  facts.active_pid = static_cast<int>(rows.number(0, "active_pid").value_or(0));
  facts.wal_status = rows.string(0, "wal_status");
  facts.invalidation_reason = rows.string(0, "invalidation_reason");
  if (facts.invalidation_reason.empty() && rows.flag(0, "conflicting")) {
    // PostgreSQL 16 says so of every slot it has invalidated, not why.
    facts.invalidation_reason = "WAL removed, or a conflict with recovery";
  }
  facts.confirmed = rows.lsn(0, "confirmed_flush_lsn");
  return facts;
}

std::optional<PublicationFacts> read_publication(PGconn* connection, const std::string& publication,
                                                 Wait& wait) {
  const std::string name = quote_literal(publication);
  const bool has_schemas = PQserverVersion(connection) >= postgres_15;
  const Rows rows = select(
      connection,
      replaced(publication_query, "SCHEMAS", has_schemas ? schemas_expression : "false") + name,
      wait);
  if (rows.empty()) return std::nullopt;
  PublicationFacts facts;
  facts.all_tables = rows.flag(0, "puballtables");
  facts.whole_schemas = rows.flag(0, "whole_schemas");
  facts.inserts = rows.flag(0, "pubinsert");
  facts.others = rows.flag(0, "others");
  facts.via_root = rows.flag(0, "pubviaroot");
  const TablesByOid by_oid = read_tables(connection, name, wait, facts.tables);
  read_columns(connection, name, wait, by_oid, facts.tables);
  read_partitions(connection, name, wait, by_oid, facts.tables);
  return facts;
}

Catalogue read_catalogue(PGconn* session, PGconn* walsender, const std::string& slot,
                         const std::string& publication, Wait& wait) {
  Catalogue catalogue;
  catalogue.publication = read_publication(session, publication, wait);
  catalogue.server = read_server(session, wait);
  catalogue.slot = read_slot(session, slot, wait);
  const Rows rows = select(walsender, "IDENTIFY_SYSTEM", wait, "identifying the server");
  catalogue.server.identity = {rows.string(0, "systemid"), rows.string(0, "timeline")};
  catalogue.server.wal_end = rows.lsn(0, "xlogpos");
  return catalogue;
}

}  // namespace walpost::postgres
