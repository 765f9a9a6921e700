#include "exit_code.h"

namespace walpost::cli {

ExitCode exit_code(relay::FailureKind kind) {
  switch (kind) {
    case relay::FailureKind::refused:
      return ExitCode::refused;
    case relay::FailureKind::poisoned:
      return ExitCode::poisoned;
    case relay::FailureKind::transient:
    case relay::FailureKind::slot_active:
    case relay::FailureKind::server_stopping:
    case relay::FailureKind::interrupted:
    case relay::FailureKind::set_aside:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

ExitCode exit_code(relay::Outcome::End end) {
  switch (end) {
    case relay::Outcome::End::stopped:
      return ExitCode::done;
    case relay::Outcome::End::refused:
      return ExitCode::refused;
    case relay::Outcome::End::poisoned:
      return ExitCode::poisoned;
    case relay::Outcome::End::drain_timed_out:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

}  // namespace walpost::cli
