#include "walpost/relay/failure.h"

namespace walpost::relay {

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::transient:
      return "transient";
    case FailureKind::slot_active:
      return "slot active";
    case FailureKind::server_stopping:
      return "server stopping";
    case FailureKind::interrupted:
      return "interrupted";
    case FailureKind::refused:
      return "refused";
    case FailureKind::poisoned:
      return "poisoned";
    case FailureKind::set_aside:
      return "set aside";
  }
  return "unknown";
}

std::string_view name(Side side) {
  switch (side) {
    case Side::postgres:
      return "postgres";
    case Side::kafka:
      return "kafka";
    case Side::walpost:
      return "walpost";
  }
  return "unknown";
}

}  // namespace walpost::relay
