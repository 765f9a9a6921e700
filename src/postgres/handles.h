#pragma once

#include <libpq-fe.h>

#include <memory>

namespace walpost::postgres {

/// Owners of what libpq allocates. One thread each.
struct FinishConnection {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
struct FreeMemory {
  void operator()(void* memory) const noexcept { PQfreemem(memory); }
};
struct FreeConninfo {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

using Handle = std::unique_ptr<PGconn, FinishConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;
using CopyBuffer = std::unique_ptr<char, FreeMemory>;

}  // namespace walpost::postgres
