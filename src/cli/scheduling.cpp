#include "scheduling.h"

#include <sched.h>

namespace walpost::cli {

void let_the_server_go_first() noexcept {
  const sched_param unused{};
  static_cast<void>(sched_setscheduler(0, SCHED_BATCH, &unused));
}

}  // namespace walpost::cli
