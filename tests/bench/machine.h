#pragma once

#include "bench/results.h"
#include "bench/services.h"

namespace walpost::bench {

/// What the figures were measured on.
[[nodiscard]] Machine describe_machine(Services& services);

}  // namespace walpost::bench
