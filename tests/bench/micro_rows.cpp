#include "bench/micro_rows.h"

#include <optional>
#include <string_view>
#include <utility>

namespace walpost::micro {
namespace {

// PostgreSQL's object ids, from its pg_type.
constexpr std::uint32_t bytea_oid = 17, text_oid = 25, timestamptz_oid = 1184, uuid_oid = 2950,
                        jsonb_oid = 3802;
constexpr std::uint32_t table_oid = 16385;
constexpr std::size_t column_count = 7;

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    to.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
}

void put_name(std::string& to, std::string_view name) {
  to.append(name);
  to.push_back('\0');
}

void put_value(std::string& to, const std::optional<std::string>& value) {
  to.push_back(value ? 't' : 'n');
  if (!value) return;
  put(to, value->size(), 4);
  to.append(*value);
}

std::string payload_text(const RowShape& shape) {
  if (shape.payload == Payload::bytea) {
    std::string text = "\\x";
    for (std::size_t i = 0; i < shape.payload_bytes; ++i) text += i % 2 == 0 ? "7a" : "e9";
    return text;
  }
  const std::string before = R"({"body": ")";
  const std::string after = R"("})";
  return before + std::string(shape.payload_bytes - before.size() - after.size(), 'x') + after;
}

std::optional<std::string> headers_text(const RowShape& shape) {
  if (shape.headers == 0) return std::nullopt;
  std::string text = "{";
  for (int i = 0; i < shape.headers; ++i) {
    if (i > 0) text += ", ";
    text += "\"header-" + std::to_string(i) + "\": ";
    text += i % 2 == 0 ? R"("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")"
                       : R"("a \"quoted\" note\nof two lines")";
  }
  return text + "}";
}

std::string insert_message(const RowShape& shape, std::uint32_t number) {
  constexpr std::uint32_t customers = 6;
  const std::uint32_t customer = number % customers;
  std::string message = "I";
  put(message, table_oid, 4);
  message.push_back('N');
  put(message, column_count, 2);
  put_value(message, "0b3f8e5c-6f43-4f34-9c8e-" + std::to_string(100000000000 + number));
  put_value(message, number % 2 == 0 ? "order" : "shipment");
  put_value(message,
            "customer-" + std::string(std::size_t{customer} * 4, 'c') + std::to_string(customer));
  put_value(message, number % 3 == 0 ? "OrderPlaced" : "ShipmentLeftTheWarehouse");
  put_value(message, payload_text(shape));
  put_value(message, headers_text(shape));
  put_value(message, "2026-12-01 04:07:24.123456+05:30");
  return message;
}

}  // namespace

std::string relation_message(const RowShape& shape) {
  const std::uint32_t payload_oid = shape.payload == Payload::json ? jsonb_oid : bytea_oid;
  std::string message = "R";
  put(message, table_oid, 4);
  put_name(message, "app");
  put_name(message, "outbox");
  message.push_back('d');
  put(message, column_count, 2);
  const std::pair<std::string_view, std::uint32_t> columns[column_count] = {
      {"id", uuid_oid},
      {"aggregate_type", text_oid},
      {"aggregate_id", text_oid},
      {"event_type", text_oid},
      {"payload", payload_oid},
      {"headers", jsonb_oid},
      {"created_at", timestamptz_oid}};
  for (const auto& [name, type] : columns) {
    put(message, name == "id" ? 1 : 0, 1);
    put_name(message, name);
    put(message, type, 4);
    put(message, 0xffffffff, 4);
  }
  return message;
}

std::vector<std::string> insert_messages(const RowShape& shape, std::uint32_t count) {
  std::vector<std::string> messages;
  for (std::uint32_t i = 0; i < count; ++i) messages.push_back(insert_message(shape, i));
  return messages;
}

}  // namespace walpost::micro
