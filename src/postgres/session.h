#pragma once

#include "handles.h"
#include "wait.h"

namespace walpost::postgres {

/// Fixes every setting of the session that could change the bytes of a value or end the connection
/// behind our back, whatever the role, the database or PGOPTIONS say. Throws SqlError.
void fix_settings(PGconn* connection, Wait& wait);

}  // namespace walpost::postgres
