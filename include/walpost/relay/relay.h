#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/dead_letter_store.h"
#include "walpost/relay/failure.h"
#include "walpost/relay/poison_policy.h"
#include "walpost/relay/sink.h"
#include "walpost/relay/source.h"

namespace walpost::relay {

struct Options {
  std::string slot = "walpost";  ///< only for messages
  /// Of the records' memory as Sink::in_flight_bytes estimates it; keeps the whole process below 32
  /// MB unless payloads are large.
  std::size_t in_flight_bytes = std::size_t{8} << 20;
  std::size_t in_flight_events = 100000;
  /// A confirmation follows an acknowledgement within this time. Shorter costs a system call on
  /// both sides for every few rows; longer means more duplicates after a crash.
  milliseconds confirm_spacing{20};
  milliseconds drain_timeout{25000};  ///< how long a stop waits for acknowledgements; > 0
  milliseconds backoff_first{200};
  milliseconds backoff_limit{30000};
  PoisonOptions poison{};
  std::optional<std::uint64_t> jitter_seed;  ///< of the backoff; nothing: from the system
};

enum class State { connecting, standby, streaming, draining, stopped, failed };

/// How a run ended. `failure` says why when it isn't `stopped`.
struct Outcome {
  enum class End { stopped, refused, poisoned, drain_timed_out };
  End end = End::stopped;
  pgoutput::Lsn confirmed;  ///< what the slot confirmed at the end, as far as known
};

/// The relay: the only application thread's whole story. Holds no threads and no global state.
/// Everything it is given must outlive it.
class Relay {
 public:
  Relay(Source& source, Sink& sink, Clock& clock, outbox::Mapper& mapper, outbox::Router& router,
        const Options& options, DeadLetterStore* letters = nullptr);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Publishes until stopped by the clock's stop requests, or refused. The only place that catches
  /// SessionFailure. Logs; returns how it ended.
  Outcome run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace walpost::relay
