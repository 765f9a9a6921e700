#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pgoutput/lsn.h"

/// Writes the frames a walsender would send, byte by byte from the protocol chapter, so that tests
/// of the relay read as a story.
namespace stream {

using pgoutput::Lsn;

std::string keepalive(Lsn wal_end, bool reply_requested = false);
std::string begin(Lsn final_lsn);
std::string commit(Lsn commit_lsn, Lsn end_lsn);
/// The table public.outbox (id, aggregate_type, aggregate_id, event_type, payload), all text.
std::string outbox_relation();
/// One row of it; a null pointer is SQL NULL.
std::string insert(const char* id, const char* aggregate_id, const char* payload);

/// What begins a piece of a transaction that is still open, with `streaming` on.
std::string stream_start();
/// What begins a prepared transaction, with `two_phase` on.
std::string begin_prepare(Lsn prepare_lsn, Lsn end_lsn);

/// relation, begin, rows, commit: a transaction of one row for each id, key "k-<id>".
std::vector<std::string> transaction(Lsn commit_lsn, Lsn end_lsn,
                                     const std::vector<const char*>& ids);

}  // namespace stream
