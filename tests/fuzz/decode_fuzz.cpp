#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <variant>

#include "pgoutput/decode.h"
#include "pgoutput/framing.h"
#include "pgoutput/lsn.h"

namespace {

using namespace pgoutput;

void require(bool holds) {
  if (!holds) std::abort();
}

bool within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_row(const Tuple& row, std::string_view bytes) {
  std::size_t count = 0;
  for (const Value value : row) {
    ++count;
    require(within(value.bytes, bytes));
  }
  require(count == row.size());
}

/// What must hold of a message beyond that reading it is safe.
struct Checked {
  std::string_view bytes;

  void operator()(const Insert& insert) const { check_row(insert.row, bytes); }
  void operator()(const Update& update) const {
    if (update.old) check_row(update.old->row, bytes);
    check_row(update.row, bytes);
  }
  void operator()(const Delete& removed) const { check_row(removed.old.row, bytes); }
  void operator()(const Relation& relation) const {
    require(within(relation.schema, bytes) && within(relation.name, bytes));
    for (const Column& column : relation.columns) require(within(column.name, bytes));
  }
  void operator()(const LogicalMessage& message) const {
    require(within(message.prefix, bytes) && within(message.content, bytes));
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

void check_error(const DecodeError& error, std::string_view bytes) {
  require(!error.what.empty() && error.offset <= bytes.size());
}

void check_messages(std::string_view bytes) {
  for (const bool in_stream : {false, true}) {
    for (const bool parallel_abort : {false, true}) {
      const Decoded result = decode(bytes, {in_stream, parallel_abort});
      if (const auto* error = std::get_if<DecodeError>(&result)) {
        check_error(*error, bytes);
      } else {
        std::visit(Checked{bytes}, std::get<Message>(result));
      }
    }
  }
}

void check_frame(std::string_view bytes) {
  const auto result = parse_frame(bytes);
  if (const auto* error = std::get_if<DecodeError>(&result)) {
    check_error(*error, bytes);
  } else if (const auto* data = std::get_if<XLogData>(&std::get<Frame>(result))) {
    require(within(data->payload, bytes));
    check_messages(data->payload);
  }
}

void check_lsn(std::string_view bytes) {
  if (const auto lsn = Lsn::parse(bytes)) require(Lsn::parse(lsn->to_string()) == *lsn);
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, sizeof number)) {
    number = number << 8 | static_cast<std::uint8_t>(byte);
  }
  require(Lsn::parse(Lsn{number}.to_string()) == Lsn{number});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_messages(bytes);
  check_frame(bytes);
  check_lsn(bytes);
  return 0;
}
