#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pgoutput/messages.h"

/// The types that a column of an outbox is told apart by. Object ids of built-in types never
/// change. Source: PostgreSQL's catalogue, `select oid, typname from pg_type`.
namespace walpost::outbox::column_type {

inline constexpr pgoutput::Oid bytea{17};
inline constexpr pgoutput::Oid text{25};
inline constexpr pgoutput::Oid json{114};
inline constexpr pgoutput::Oid bpchar{1042};
inline constexpr pgoutput::Oid varchar{1043};
inline constexpr pgoutput::Oid timestamp{1114};
inline constexpr pgoutput::Oid timestamptz{1184};
inline constexpr pgoutput::Oid jsonb{3802};

/// The type of that catalogue name in pg_catalog, if it is one that matters or is common in an
/// outbox.
[[nodiscard]] std::optional<pgoutput::Oid> built_in(std::string_view name);

/// How users write the type: "timestamptz", or "the type with oid 16402" for one that isn't built
/// in.
[[nodiscard]] std::string describe(pgoutput::Oid type);

}  // namespace walpost::outbox::column_type
