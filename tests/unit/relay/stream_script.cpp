#include "unit/relay/stream_script.h"

namespace stream {
namespace {

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    to.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
}

void put_name(std::string& to, std::string_view name) {
  to.append(name);
  to.push_back('\0');
}

void put_value(std::string& to, const char* value) {
  if (value == nullptr) {
    to.push_back('n');
    return;
  }
  const std::string_view text(value);
  to.push_back('t');
  put(to, text.size(), 4);
  to.append(text);
}

std::string xlog_data(Lsn position, const std::string& message) {
  std::string frame = "w";
  put(frame, position.value, 8);
  put(frame, position.value, 8);
  put(frame, 0, 8);
  return frame + message;
}

constexpr std::uint64_t outbox_oid = 16385;

}  // namespace

std::string keepalive(Lsn wal_end, bool reply_requested) {
  std::string frame = "k";
  put(frame, wal_end.value, 8);
  put(frame, 0, 8);
  put(frame, reply_requested ? 1 : 0, 1);
  return frame;
}

std::string begin(Lsn final_lsn) {
  std::string message = "B";
  put(message, final_lsn.value, 8);
  put(message, 1000, 8);
  put(message, 7, 4);
  return xlog_data(final_lsn, message);
}

std::string commit(Lsn commit_lsn, Lsn end_lsn) {
  std::string message = "C";
  put(message, 0, 1);
  put(message, commit_lsn.value, 8);
  put(message, end_lsn.value, 8);
  put(message, 1000, 8);
  return xlog_data(end_lsn, message);
}

std::string stream_start() {
  std::string message = "S";
  put(message, 7, 4);
  put(message, 1, 1);
  return xlog_data(Lsn{}, message);
}

std::string begin_prepare(Lsn prepare_lsn, Lsn end_lsn) {
  std::string message = "b";
  put(message, prepare_lsn.value, 8);
  put(message, end_lsn.value, 8);
  put(message, 1000, 8);
  put(message, 7, 4);
  put_name(message, "gid");
  return xlog_data(prepare_lsn, message);
}

std::string outbox_relation() {
  std::string message = "R";
  put(message, outbox_oid, 4);
  put_name(message, "public");
  put_name(message, "outbox");
  message.push_back('d');
  const auto columns = {"id", "aggregate_type", "aggregate_id", "event_type", "payload"};
  put(message, columns.size(), 2);
  for (const char* name : columns) {
    put(message, 0, 1);
    put_name(message, name);
    put(message, 25, 4);
    put(message, 0xffffffff, 4);
  }
  return xlog_data({}, message);
}

std::string insert(const char* id, const char* aggregate_id, const char* payload) {
  std::string message = "I";
  put(message, outbox_oid, 4);
  message.push_back('N');
  put(message, 5, 2);
  put_value(message, id);
  put_value(message, "order");
  put_value(message, aggregate_id);
  put_value(message, "OrderPlaced");
  put_value(message, payload);
  return xlog_data({}, message);
}

std::vector<std::string> transaction(Lsn commit_lsn, Lsn end_lsn,
                                     const std::vector<const char*>& ids) {
  std::vector<std::string> frames{begin(commit_lsn), outbox_relation()};
  for (const char* id : ids) frames.push_back(insert(id, (std::string("k-") + id).c_str(), "{}"));
  frames.push_back(commit(commit_lsn, end_lsn));
  return frames;
}

}  // namespace stream
