#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "call_thread.h"
#include "held_record.h"
#include "position_record.h"
#include "producer_session.h"
#include "transaction_batch.h"
#include "walpost/kafka/options.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/sink.h"

namespace walpost::kafka {

/// What make_transactional_sink() makes. The side of the relay is in transactional_sink.cpp, the
/// steps from one transaction to the next are in transactional_sink_steps.cpp.
class TransactionalSink final : public relay::Sink {
 public:
  TransactionalSink(Options options, relay::Clock& clock);
  ~TransactionalSink() override;
  TransactionalSink(const TransactionalSink&) = delete;
  TransactionalSink& operator=(const TransactionalSink&) = delete;

  void open(const relay::StreamStart& start) override;
  relay::Accepted publish(const outbox::Record& record, relay::Token token) override;
  [[nodiscard]] const std::string& refusal() const override { return producer_.refusal(); }
  void poll(relay::Reports& reports) override;
  [[nodiscard]] pgoutput::Lsn secure(pgoutput::Lsn acknowledged, pgoutput::Lsn sealed) override;
  [[nodiscard]] int wake_fd() const override { return producer_.wake_fd(); }
  [[nodiscard]] std::size_t in_flight() const override;
  [[nodiscard]] std::size_t in_flight_bytes() const override;
  void discard() noexcept override;

 private:
  enum class Stage {
    closed,
    initialising,    ///< a call fences former producers
    awaiting_topic,  ///< the topic of positions is looked at, or made
    recalling,       ///< a call reads the position
    idle,            ///< no transaction
    open,            ///< events go into a transaction
    flushing,        ///< it is complete; its reports are still to come
    committing,      ///< a call commits it
    failed,          ///< the failure was reported; only discard() goes on
  };

  void start_producer();
  void serve(relay::Reports& reports);
  void take_failures(relay::Reports& reports);
  void take_call();
  void initialised();
  void recalled();
  void committed();
  void advance();
  void start_recall();
  void begin();
  void begin_for_events();
  bool release_held();
  [[noreturn]] void refused_late(const outbox::Record& record);
  void close_transaction();
  void watch_flush();
  void commit();
  void report(relay::Reports& reports);
  void plan_wake_up();
  relay::Accepted produce(const outbox::Record& record, relay::Token token);
  void hold(const outbox::Record& record, relay::Token token);
  void finish_call() noexcept;
  void abort() noexcept;
  void forget() noexcept;
  [[nodiscard]] bool position_moved() const { return acknowledged_ > durable_.confirmed; }
  [[nodiscard]] bool complete() const;

  relay::Clock& clock_;
  ProducerSession producer_;
  CallThread calls_;
  std::atomic<bool> cancelled_ = false;  // the call is to return soon
  Stage stage_ = Stage::closed;
  relay::StreamStart start_{};
  std::string id_;   // transactional
  std::string key_;  // of the position

  bool ready_to_publish_ = false;           // what the call said
  std::optional<PositionRecord> recalled_;  // what the call read
  PositionRecord durable_;  // in Kafka for certain; events it covers aren't published again
  PositionRecord noted_;    // what the present transaction makes of it
  pgoutput::Lsn acknowledged_;
  pgoutput::Lsn sealed_;  // everything before it was published or is in the present transaction

  TransactionBatch batch_;
  std::size_t produced_ = 0;  // into the present transaction
  bool note_sent_ = false;
  relay::Instant flush_checked_{};
  std::vector<relay::Token> acknowledged_tokens_;  // of the present transaction
  std::vector<relay::Token> settled_;              // to be reported delivered
  std::deque<HeldRecord> held_;                    // came while a transaction was being committed
  std::size_t held_bytes_ = 0;
  std::vector<outbox::Header> held_headers_;  // scratch
  relay::Reports from_producer_;              // scratch
};

}  // namespace walpost::kafka
