#include "column_type.h"

#include <array>
#include <cstdint>

namespace walpost::outbox::column_type {

namespace {

struct BuiltIn {
  std::string_view name;
  pgoutput::Oid oid;
};

constexpr std::array built_ins{
    BuiltIn{"bool", pgoutput::Oid{16}},
    BuiltIn{"bytea", bytea},
    BuiltIn{"char", pgoutput::Oid{18}},
    BuiltIn{"name", pgoutput::Oid{19}},
    BuiltIn{"int8", pgoutput::Oid{20}},
    BuiltIn{"int2", pgoutput::Oid{21}},
    BuiltIn{"int4", pgoutput::Oid{23}},
    BuiltIn{"text", text},
    BuiltIn{"json", json},
    BuiltIn{"xml", pgoutput::Oid{142}},
    BuiltIn{"float4", pgoutput::Oid{700}},
    BuiltIn{"float8", pgoutput::Oid{701}},
    BuiltIn{"bpchar", bpchar},
    BuiltIn{"varchar", varchar},
    BuiltIn{"date", pgoutput::Oid{1082}},
    BuiltIn{"time", pgoutput::Oid{1083}},
    BuiltIn{"timestamp", timestamp},
    BuiltIn{"timestamptz", timestamptz},
    BuiltIn{"numeric", pgoutput::Oid{1700}},
    BuiltIn{"uuid", pgoutput::Oid{2950}},
    BuiltIn{"jsonb", jsonb},
};

}  // namespace

std::optional<pgoutput::Oid> built_in(std::string_view name) {
  for (const BuiltIn& type : built_ins) {
    if (type.name == name) return type.oid;
  }
  return std::nullopt;
}

std::string describe(pgoutput::Oid type) {
  for (const BuiltIn& known : built_ins) {
    if (known.oid == type) return std::string(known.name);
  }
  return "the type with oid " + std::to_string(static_cast<std::uint32_t>(type));
}

}  // namespace walpost::outbox::column_type
