#pragma once

#include <string>
#include <vector>

#include "quoting.h"

/// The statements of `walpost init`, beside outbox_ddl of walpost/postgres/setup.h.
namespace walpost::postgres {

/// Inserts only: updates and deletes of the outbox are housekeeping, and publishing them would make
/// the application's DELETE fail on a table without a replica identity.
[[nodiscard]] std::string publication_ddl(const std::string& publication,
                                          const std::vector<TableReference>& tables);

[[nodiscard]] std::string slot_ddl(const std::string& slot);

/// Whether everything of dead_letter_ddl() exists: a boolean in one column, `there`.
inline constexpr const char* dead_letter_query =
    "SELECT pg_catalog.to_regclass('walpost.dead_letter') IS NOT NULL"
    " AND pg_catalog.to_regclass('walpost.parked_key') IS NOT NULL AS there";

/// Whether this role may do with them what the relay and `walpost dlq` do: `enough`, `role`.
inline constexpr const char* dead_letter_rights_query =
    "SELECT current_user AS role,"
    " pg_catalog.has_table_privilege('walpost.dead_letter', 'SELECT')"
    " AND pg_catalog.has_table_privilege('walpost.dead_letter', 'INSERT')"
    " AND pg_catalog.has_table_privilege('walpost.dead_letter', 'UPDATE')"
    " AND pg_catalog.has_table_privilege('walpost.parked_key', 'SELECT')"
    " AND pg_catalog.has_table_privilege('walpost.parked_key', 'INSERT')"
    " AND pg_catalog.has_table_privilege('walpost.parked_key', 'DELETE') AS enough";

}  // namespace walpost::postgres
