#include "pgoutput/decode.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "cursor.h"

// The grammar these readers follow, message by message, is in pgoutput/README.md.
namespace pgoutput {

namespace {

Lsn read_lsn(Cursor& in) {
  return Lsn{in.u64()};
}
Timestamp read_timestamp(Cursor& in) {
  return Timestamp{in.i64()};
}
Xid read_xid(Cursor& in) {
  return Xid{in.u32()};
}
Oid read_oid(Cursor& in) {
  return Oid{in.u32()};
}

std::optional<Xid> read_stream_xid(Cursor& in, StreamContext context) {
  if (!context.in_stream) return std::nullopt;
  return read_xid(in);
}

/// A byte of which the protocol gives a meaning only to the bits in `known`.
std::uint8_t read_flags(Cursor& in, std::uint8_t known) {
  const std::size_t at = in.offset();
  const std::uint8_t flags = in.u8();
  if ((flags & ~known) != 0) in.fail(at, "a flag the protocol does not define");
  return flags;
}

void expect(Cursor& in, char tag) {
  const std::size_t at = in.offset();
  if (in.u8() != static_cast<std::uint8_t>(tag)) in.fail(at, "unexpected kind of row");
}

/// Checks every value once, so that iterating the Tuple later need not.
Tuple read_tuple(Cursor& in, std::string_view whole) {
  const std::uint16_t columns = in.u16();
  const std::size_t first = in.offset();
  for (std::uint16_t i = 0; i < columns && !in.failed(); ++i) {
    const std::size_t at = in.offset();
    switch (in.u8()) {
      case 'n':
      case 'u':
        break;
      case 't':
      case 'b':
        in.slice(in.u32());
        break;
      default:
        in.fail(at, "unknown kind of column value");
    }
  }
  if (in.failed()) return {};
  return {columns, whole.substr(first, in.offset() - first)};
}

Begin read_begin(Cursor& in) {
  Begin message;
  message.final_lsn = read_lsn(in);
  message.committed_at = read_timestamp(in);
  message.xid = read_xid(in);
  return message;
}

Commit read_commit(Cursor& in) {
  Commit message;
  message.flags = read_flags(in, 0);
  message.commit_lsn = read_lsn(in);
  message.end_lsn = read_lsn(in);
  message.committed_at = read_timestamp(in);
  return message;
}

Origin read_origin(Cursor& in) {
  Origin message;
  message.lsn = read_lsn(in);
  message.name = in.c_string();
  return message;
}

char read_replica_identity(Cursor& in) {
  const std::size_t at = in.offset();
  const char identity = static_cast<char>(in.u8());
  if (std::string_view("dnfi").find(identity) == std::string_view::npos) {
    in.fail(at, "unknown replica identity");
  }
  return identity;
}

Column read_column(Cursor& in) {
  Column column;
  column.key = read_flags(in, 1) == 1;
  column.name = in.c_string();
  column.type = read_oid(in);
  column.type_modifier = in.i32();
  return column;
}

Relation read_relation(Cursor& in, StreamContext context) {
  constexpr std::size_t smallest_column = 1 + 1 + 4 + 4;  // flags, an empty name, type, modifier
  Relation message;
  message.xid = read_stream_xid(in, context);
  message.oid = read_oid(in);
  message.schema = in.c_string();
  message.name = in.c_string();
  message.replica_identity = read_replica_identity(in);
  const std::size_t at = in.offset();
  const std::uint16_t count = in.u16();
  if (count > in.remaining() / smallest_column) in.fail(at, "more columns than fit in the message");
  if (in.failed()) return message;
  message.columns.reserve(count);
  for (std::uint16_t i = 0; i < count; ++i) message.columns.push_back(read_column(in));
  return message;
}

Type read_type(Cursor& in, StreamContext context) {
  Type message;
  message.xid = read_stream_xid(in, context);
  message.oid = read_oid(in);
  message.schema = in.c_string();
  message.name = in.c_string();
  return message;
}

Insert read_insert(Cursor& in, std::string_view whole, StreamContext context) {
  Insert message;
  message.xid = read_stream_xid(in, context);
  message.relation = read_oid(in);
  expect(in, 'N');
  message.row = read_tuple(in, whole);
  return message;
}

Update read_update(Cursor& in, std::string_view whole, StreamContext context) {
  Update message;
  message.xid = read_stream_xid(in, context);
  message.relation = read_oid(in);
  const std::size_t at = in.offset();
  const char tag = static_cast<char>(in.u8());
  if (tag == 'K' || tag == 'O') {
    message.old = OldRow{OldRow::Kind{tag}, read_tuple(in, whole)};
    expect(in, 'N');
  } else if (tag != 'N') {
    in.fail(at, "unexpected kind of row");
  }
  message.row = read_tuple(in, whole);
  return message;
}

Delete read_delete(Cursor& in, std::string_view whole, StreamContext context) {
  Delete message;
  message.xid = read_stream_xid(in, context);
  message.relation = read_oid(in);
  const std::size_t at = in.offset();
  const char tag = static_cast<char>(in.u8());
  if (tag != 'K' && tag != 'O') in.fail(at, "unexpected kind of row");
  message.old = OldRow{OldRow::Kind{tag}, read_tuple(in, whole)};
  return message;
}

Truncate read_truncate(Cursor& in, StreamContext context) {
  constexpr std::uint8_t cascade = 1;
  constexpr std::uint8_t restart_identity = 2;
  Truncate message;
  message.xid = read_stream_xid(in, context);
  const std::size_t at = in.offset();
  const std::uint32_t count = in.u32();
  const std::uint8_t options = read_flags(in, cascade | restart_identity);
  message.cascade = (options & cascade) != 0;
  message.restart_identity = (options & restart_identity) != 0;
  if (count > in.remaining() / sizeof(Oid)) in.fail(at, "more relations than fit in the message");
  if (in.failed()) return message;
  message.relations.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) message.relations.push_back(read_oid(in));
  return message;
}

LogicalMessage read_logical_message(Cursor& in, StreamContext context) {
  LogicalMessage message;
  message.xid = read_stream_xid(in, context);
  message.transactional = read_flags(in, 1) == 1;
  message.lsn = read_lsn(in);
  message.prefix = in.c_string();
  message.content = in.slice(in.u32());
  return message;
}

StreamStart read_stream_start(Cursor& in) {
  StreamStart message;
  message.xid = read_xid(in);
  message.first_segment = read_flags(in, 1) == 1;
  return message;
}

StreamCommit read_stream_commit(Cursor& in) {
  StreamCommit message;
  message.xid = read_xid(in);
  message.flags = read_flags(in, 0);
  message.commit_lsn = read_lsn(in);
  message.end_lsn = read_lsn(in);
  message.committed_at = read_timestamp(in);
  return message;
}

StreamAbort read_stream_abort(Cursor& in, StreamContext context) {
  StreamAbort message;
  message.xid = read_xid(in);
  message.subxid = read_xid(in);
  if (context.parallel_abort) {
    message.abort_lsn = read_lsn(in);
    message.aborted_at = read_timestamp(in);
  }
  return message;
}

BeginPrepare read_begin_prepare(Cursor& in) {
  BeginPrepare message;
  message.prepare_lsn = read_lsn(in);
  message.end_lsn = read_lsn(in);
  message.prepared_at = read_timestamp(in);
  message.xid = read_xid(in);
  message.gid = in.c_string();
  return message;
}

/// Prepare and StreamPrepare differ in their type byte alone.
template <typename Prepared>
Prepared read_prepare(Cursor& in) {
  Prepared message;
  message.flags = read_flags(in, 0);
  message.prepare_lsn = read_lsn(in);
  message.end_lsn = read_lsn(in);
  message.prepared_at = read_timestamp(in);
  message.xid = read_xid(in);
  message.gid = in.c_string();
  return message;
}

CommitPrepared read_commit_prepared(Cursor& in) {
  CommitPrepared message;
  message.flags = read_flags(in, 0);
  message.commit_lsn = read_lsn(in);
  message.end_lsn = read_lsn(in);
  message.committed_at = read_timestamp(in);
  message.xid = read_xid(in);
  message.gid = in.c_string();
  return message;
}

RollbackPrepared read_rollback_prepared(Cursor& in) {
  RollbackPrepared message;
  message.flags = read_flags(in, 0);
  message.prepare_end_lsn = read_lsn(in);
  message.rollback_end_lsn = read_lsn(in);
  message.prepared_at = read_timestamp(in);
  message.rolled_back_at = read_timestamp(in);
  message.xid = read_xid(in);
  message.gid = in.c_string();
  return message;
}

/// Builds the message in its place in the result: no move of the variant on the way.
template <typename M>
Decoded finish(Cursor& in, M message) {
  if (const auto error = in.finish()) return *error;
  return Decoded(std::in_place_type<Message>, std::in_place_type<M>, std::move(message));
}

}  // namespace

Decoded decode(std::string_view payload, StreamContext context) {
  Cursor in(payload);
  switch (in.u8()) {
    case 'I':
      return finish(in, read_insert(in, payload, context));
    case 'B':
      return finish(in, read_begin(in));
    case 'C':
      return finish(in, read_commit(in));
    case 'R':
      return finish(in, read_relation(in, context));
    case 'U':
      return finish(in, read_update(in, payload, context));
    case 'D':
      return finish(in, read_delete(in, payload, context));
    case 'T':
      return finish(in, read_truncate(in, context));
    case 'M':
      return finish(in, read_logical_message(in, context));
    case 'O':
      return finish(in, read_origin(in));
    case 'Y':
      return finish(in, read_type(in, context));
    case 'S':
      return finish(in, read_stream_start(in));
    case 'E':
      return finish(in, StreamStop{});
    case 'c':
      return finish(in, read_stream_commit(in));
    case 'A':
      return finish(in, read_stream_abort(in, context));
    case 'b':
      return finish(in, read_begin_prepare(in));
    case 'P':
      return finish(in, read_prepare<Prepare>(in));
    case 'p':
      return finish(in, read_prepare<StreamPrepare>(in));
    case 'K':
      return finish(in, read_commit_prepared(in));
    case 'r':
      return finish(in, read_rollback_prepared(in));
    default:
      in.fail(0, "unknown message type");
      return *in.finish();
  }
}

}  // namespace pgoutput
