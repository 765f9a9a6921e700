#include "held_record.h"

#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace walpost::kafka {
namespace {

using Length = std::uint32_t;  // PostgreSQL's values are shorter than 1 GiB
constexpr Length null = std::numeric_limits<Length>::max();

std::size_t field_bytes(std::optional<std::string_view> field) {
  return sizeof(Length) + field.value_or("").size();
}

class FieldWriter {
 public:
  explicit FieldWriter(char* out) : out_(out) {}
  void put(std::optional<std::string_view> field) {
    const Length length = field ? static_cast<Length>(field->size()) : null;
    std::memcpy(out_, &length, sizeof length);
    out_ += sizeof length;
    if (!field) return;
    out_ += field->copy(out_, field->size());
  }

 private:
  char* out_;
};

class FieldReader {
 public:
  explicit FieldReader(const char* in) : in_(in) {}
  std::optional<std::string_view> get() {
    Length length = 0;
    std::memcpy(&length, in_, sizeof length);
    in_ += sizeof length;
    if (length == null) return std::nullopt;
    const std::string_view field(in_, length);
    in_ += length;
    return field;
  }
  std::string_view get_present() { return *get(); }

 private:
  const char* in_;
};

}  // namespace

HeldRecord::HeldRecord(const outbox::Record& record, relay::Token its_token,
                       std::int32_t its_partition)
    : token(its_token),
      partition(its_partition),
      position_(record.position),
      header_count_(static_cast<std::uint32_t>(record.headers.size())) {
  std::size_t size =
      field_bytes(record.topic) + field_bytes(record.key) + field_bytes(record.value);
  for (const auto& [name, value] : record.headers) size += field_bytes(name) + field_bytes(value);
  fields_ = std::make_unique_for_overwrite<char[]>(size);
  FieldWriter out(fields_.get());
  out.put(record.topic);
  out.put(record.key);
  out.put(record.value);
  for (const auto& [name, value] : record.headers) {
    out.put(name);
    out.put(value);
  }
}

outbox::Record HeldRecord::view(std::vector<outbox::Header>& headers) const {
  FieldReader in(fields_.get());
  outbox::Record record{};
  record.topic = in.get_present();
  record.key = in.get_present();
  record.value = in.get();
  headers.clear();
  for (std::uint32_t i = 0; i < header_count_; ++i) {
    const std::string_view name = in.get_present();
    headers.push_back({name, in.get()});
  }
  record.headers = headers;
  record.position = position_;
  return record;
}

}  // namespace walpost::kafka
