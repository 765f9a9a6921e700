#include "transaction_calls.h"

#include <spdlog/spdlog.h>

#include "delivery_errors.h"
#include "delivery_report.h"
#include "walpost/relay/failure.h"

namespace walpost::kafka {
namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;
using std::chrono::milliseconds;

constexpr milliseconds init_slice{1000};

bool fences(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw SessionFailure(FailureKind::refused, Side::kafka, what, mend);
}

/// What a call that has failed for good means.
[[noreturn]] void throw_failure(rd_kafka_t* client, const rd_kafka_error_t* error,
                                const std::string& doing, const std::string& id) {
  if (fences(rd_kafka_error_code(error)) || is_fenced(client)) throw_fenced(id);
  const std::string reason = rd_kafka_error_string(error);
  switch (rd_kafka_error_code(error)) {
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      refuse("this user may not use transactional id " + id + ": " + reason,
             "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
             "--operation Write --operation Describe --transactional-id " +
                 id);
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
      refuse(
          "the brokers don't allow transactions to take as long as kafka.transaction.timeout.ms: " +
              reason,
          "set it to at most the brokers' transaction.max.timeout.ms");
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      refuse("the brokers know no transactions: " + reason,
             "set delivery.guarantee to at_least_once, or upgrade Kafka");
    default:  // the enumeration is librdkafka's and open
      throw SessionFailure(FailureKind::transient, Side::kafka, doing + ": " + reason);
  }
}

}  // namespace

std::string transactional_id(const std::string& system, const std::string& slot) {
  return "walpost-" + system + "-" + slot;
}

bool init_transactions(rd_kafka_t* client, const std::string& id, std::chrono::seconds timeout,
                       const std::atomic<bool>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!cancelled && std::chrono::steady_clock::now() < until) {
    const ErrorHandle error(
        rd_kafka_init_transactions(client, static_cast<int>(init_slice.count())));
    if (!error) return true;
    spdlog::debug("kafka: transactions of {} can't begin yet: {}", id,
                  rd_kafka_error_string(error.get()));
    if (rd_kafka_error_is_fatal(error.get()) != 0 ||
        (rd_kafka_error_is_retriable(error.get()) == 0 &&
         !is_passing(rd_kafka_error_code(error.get())))) {
      throw_failure(client, error.get(), "transactions can't begin", id);
    }
  }
  return false;
}

void begin_transaction(rd_kafka_t* client, const std::string& id) {
  const ErrorHandle error(rd_kafka_begin_transaction(client));
  if (error) throw_failure(client, error.get(), "a transaction can't begin", id);
}

void commit_transaction(rd_kafka_t* client, const std::string& id, milliseconds timeout) {
  const ErrorHandle error(rd_kafka_commit_transaction(client, static_cast<int>(timeout.count())));
  if (error) throw_failure(client, error.get(), "the transaction couldn't be committed", id);
}

void abort_transaction(rd_kafka_t* client, milliseconds timeout) noexcept {
  const ErrorHandle error(rd_kafka_abort_transaction(client, static_cast<int>(timeout.count())));
  if (error) spdlog::debug("kafka: abort: {}", rd_kafka_error_string(error.get()));
}

// There is no question for the state of a transaction, but a wish that can't be granted in a sound
// one is refused for another reason in one that has failed.
void expect_sound_transaction(rd_kafka_t* client, const std::string& id) {
  const ErrorHandle error(rd_kafka_begin_transaction(client));
  if (!error) throw std::logic_error("a transaction was expected to be open");
  if (rd_kafka_error_txn_requires_abort(error.get()) == 0 &&
      rd_kafka_error_is_fatal(error.get()) == 0) {
    return;
  }
  throw_failure(client, error.get(), "the transaction has failed", id);
}

bool is_fenced(rd_kafka_t* client) {
  const auto fatal = fatal_error(client);
  return fatal && fences(fatal->code);
}

void throw_fenced(const std::string& id) {
  throw SessionFailure(FailureKind::transient, Side::kafka,
                       "another instance has taken over: transactional id " + id +
                           " has a newer producer, nothing of this one is visible any more");
}

}  // namespace walpost::kafka
