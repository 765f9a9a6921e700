#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "librdkafka.h"

/// librdkafka's transaction calls, with what their errors mean. All but begin_transaction() block,
/// serve no events, and so need another thread that takes delivery reports off the queue meanwhile.
namespace walpost::kafka {

/// Of one producer for all instances that take turns on a slot, so that the newest fences the
/// others. Sharded relays, if there ever are any, need the shard in it.
[[nodiscard]] std::string transactional_id(const std::string& system, const std::string& slot);

/// Fences former producers of the id and ends their transaction. False if the brokers couldn't do
/// it in time: to be tried with a new producer. Returns within about a second of `cancelled`.
/// Throws relay::SessionFailure.
[[nodiscard]] bool init_transactions(rd_kafka_t* client, const std::string& id,
                                     std::chrono::seconds timeout,
                                     const std::atomic<bool>& cancelled);

/// Throws relay::SessionFailure.
void begin_transaction(rd_kafka_t* client, const std::string& id);

/// Throws relay::SessionFailure(transient), also when it can't be told whether it was committed:
/// then the producer must not be used any more.
void commit_transaction(rd_kafka_t* client, const std::string& id,
                        std::chrono::milliseconds timeout);

/// So that readers needn't wait for the transaction to expire. A failure changes nothing: the next
/// producer of the id does the same.
void abort_transaction(rd_kafka_t* client, std::chrono::milliseconds timeout) noexcept;

/// Throws relay::SessionFailure(transient) where the present transaction has failed without a
/// record that says so. REQUIRES: a transaction has begun. Doesn't block.
void expect_sound_transaction(rd_kafka_t* client, const std::string& id);

/// Whether a newer producer of the same id has taken over.
[[nodiscard]] bool is_fenced(rd_kafka_t* client);
/// That as the end of a session.
[[noreturn]] void throw_fenced(const std::string& id);

}  // namespace walpost::kafka
