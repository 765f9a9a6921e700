#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "handles.h"
#include "pgoutput/lsn.h"
#include "pgoutput/messages.h"
#include "wait.h"
#include "walpost/relay/stored_position.h"

/// What the preflight needs to know of a server: plain facts, without judgement.
namespace walpost::postgres {

using relay::SystemIdentity;

struct ServerFacts {
  int version = 0;  ///< as server_version_num: 150020
  SystemIdentity identity;
  pgoutput::Lsn wal_end;  ///< flushed, or replayed on a standby
  std::string database;
  std::string wal_level;
  bool in_recovery = false;
  std::chrono::milliseconds sender_timeout{0};  ///< zero: none
  std::int64_t slot_keep_mebibytes = -1;        ///< max_slot_wal_keep_size; -1: no limit
};

struct SlotFacts {
  bool logical = true;
  std::string plugin;
  std::string database;
  bool temporary = false;
  bool two_phase = false;
  bool synced = false;  ///< PostgreSQL 17: a copy on a standby
  bool active = false;
  int active_pid = 0;
  std::string wal_status;           ///< empty where the server doesn't know
  std::string invalidation_reason;  ///< PostgreSQL 17; before 17 our words for conflicting
  pgoutput::Lsn confirmed;
};

struct ColumnFacts {
  std::string name;
  pgoutput::Oid type{};  ///< of a domain the type at its bottom
  bool published = true;
};

struct TableFacts {
  std::string schema;
  std::string table;
  bool permanent = true;  ///< neither UNLOGGED nor temporary
  bool partition = false;
  std::string row_filter;
  std::vector<ColumnFacts> columns;
  std::vector<std::string> partitions_without_wal;  ///< unlogged or foreign ones, at any depth
};

struct PublicationFacts {
  bool all_tables = false;
  bool whole_schemas = false;
  bool inserts = true;
  bool others = false;  ///< update, delete or truncate
  bool via_root = false;
  std::vector<TableFacts> tables;
};

struct Catalogue {
  ServerFacts server;
  std::optional<SlotFacts> slot;
  std::optional<PublicationFacts> publication;
};

/// Reads it all: the catalogue over an ordinary session, then, over the walsender of the same
/// server, whose WAL it is and how far it goes (last, so that no position read before lies beyond
/// it). The catalogue is never read over the walsender that is to stream: what queries leave in
/// that process's caches is the present catalogue, which decoding then takes for the one of the
/// past. (Seen on 15.20: rows older than the publication are skipped in silence instead of raising
/// 42704.) Throws SqlError, relay::SessionFailure.
[[nodiscard]] Catalogue read_catalogue(PGconn* session, PGconn* walsender, const std::string& slot,
                                       const std::string& publication, Wait& wait);

/// The parts that any session can read; for `walpost init`.
[[nodiscard]] std::optional<SlotFacts> read_slot(PGconn* connection, const std::string& slot,
                                                 Wait& wait);
[[nodiscard]] std::optional<PublicationFacts> read_publication(PGconn* connection,
                                                               const std::string& publication,
                                                               Wait& wait);

}  // namespace walpost::postgres
