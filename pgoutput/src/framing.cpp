#include "pgoutput/framing.h"

#include <cstdint>

#include "cursor.h"

namespace pgoutput {

namespace {

XLogData read_xlog_data(Cursor& in) {
  XLogData frame;
  frame.start = Lsn{in.u64()};
  frame.end = Lsn{in.u64()};
  frame.sent_at = Timestamp{in.i64()};
  frame.payload = in.rest();
  return frame;
}

Keepalive read_keepalive(Cursor& in) {
  Keepalive frame;
  frame.wal_end = Lsn{in.u64()};
  frame.sent_at = Timestamp{in.i64()};
  const std::size_t at = in.offset();
  const std::uint8_t reply = in.u8();
  if (reply > 1) in.fail(at, "the reply byte is neither 0 nor 1");
  frame.reply_requested = reply == 1;
  return frame;
}

char* put_u64(char* at, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    *at++ = static_cast<char>(static_cast<std::uint8_t>(value >> shift));
  }
  return at;
}

}  // namespace

std::variant<Frame, DecodeError> parse_frame(std::string_view copy_data) {
  Cursor in(copy_data);
  Frame frame;
  switch (in.u8()) {
    case 'w':
      frame = read_xlog_data(in);
      break;
    case 'k':
      frame = read_keepalive(in);
      break;
    default:
      in.fail(0, "unknown frame type");
  }
  if (const auto error = in.finish()) return *error;
  return frame;
}

std::array<char, standby_status_size> encode(const StandbyStatus& status) {
  std::array<char, standby_status_size> bytes{};
  char* at = bytes.data();
  *at++ = 'r';
  at = put_u64(at, status.written.value);
  at = put_u64(at, status.flushed.value);
  at = put_u64(at, status.applied.value);
  at = put_u64(at, static_cast<std::uint64_t>(status.at.micros));
  *at = status.reply_requested ? 1 : 0;
  return bytes;
}

}  // namespace pgoutput
