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

}  // namespace walpost::postgres
