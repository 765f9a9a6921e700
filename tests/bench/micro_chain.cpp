#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/micro_measure.h"
#include "bench/micro_rows.h"
#include "unit/relay/stream_script.h"
#include "walpost/relay/session.h"

namespace walpost::micro {
namespace {

using pgoutput::Lsn;
using relay::Token;

constexpr std::size_t message_at = 25;  // in an XLogData frame

void overwrite(std::string& frame, std::size_t at, Lsn lsn) {
  for (std::size_t i = 0; i < 8; ++i)
    frame[at + i] = static_cast<char>(static_cast<unsigned char>(lsn.value >> (56 - 8 * i)));
}

std::string frame_of(const std::string& message) {
  return "w" + std::string(message_at - 1, '\0') + message;
}

/// A server with a backlog of so many rows, and with another one after each refill().
class BacklogSource final : public relay::Source {
 public:
  BacklogSource(const RowShape& shape, std::size_t rows, std::size_t rows_a_transaction)
      : relation_(frame_of(relation_message(shape))),
        rows_(rows),
        rows_a_transaction_(rows_a_transaction),
        at_(rows) {
    for (const std::string& row : insert_messages(shape, 64)) inserts_.push_back(frame_of(row));
  }

  relay::StreamStart open(Lsn) override { return {.start = last_}; }
  void watch(std::vector<pollfd>& fds, bool) override { fds.push_back({-1, POLLIN, 0}); }
  void receive(bool) override {}
  std::optional<std::string_view> next() override {
    if (!described_) {
      described_ = true;
      return relation_;
    }
    if (in_transaction_) return row_or_commit();
    if (at_ == rows_) return std::nullopt;
    in_transaction_ = true;
    left_ = rows_a_transaction_;
    last_.value += 400;
    overwrite(begin_, message_at + 1, last_);
    return begin_;
  }
  void send_status(const pgoutput::StandbyStatus& status) override { flushed_ = status.flushed; }
  [[nodiscard]] bool server_stopping() const override { return false; }
  std::optional<Lsn> finish(relay::milliseconds) override { return flushed_; }
  void close() noexcept override {}

  void refill() { at_ = 0; }
  [[nodiscard]] bool is_dry() const { return at_ == rows_ && !in_transaction_; }
  [[nodiscard]] Lsn sent() const { return last_; }

 private:
  std::string_view row_or_commit() {
    if (left_ > 0) {
      --left_;
      return inserts_[at_++ % inserts_.size()];
    }
    in_transaction_ = false;
    overwrite(commit_, message_at + 2, last_);
    last_.value += 48;
    overwrite(commit_, message_at + 10, last_);
    return commit_;
  }

  std::string relation_;
  std::vector<std::string> inserts_;
  std::string begin_ = stream::begin({});
  std::string commit_ = stream::commit({}, {});
  std::size_t rows_;
  std::size_t rows_a_transaction_;
  std::size_t at_;
  std::size_t left_ = 0;
  bool described_ = false;
  bool in_transaction_ = false;
  Lsn last_{0x16B374D848};
  Lsn flushed_;
};

/// Takes every record and acknowledges it at the next poll(), the latest first if `reversed`.
class ObligingSink final : public relay::Sink {
 public:
  explicit ObligingSink(bool reversed) : reversed_(reversed) {}

  void open(const relay::StreamStart&) override {}
  relay::Accepted publish(const outbox::Record& record, Token token) override {
    bytes_ += record.key.size() + record.value.value_or("").size();
    tokens_.push_back(token);
    return relay::Accepted::yes;
  }
  [[nodiscard]] const std::string& refusal() const override { return none_; }
  void poll(relay::Reports& reports) override {
    if (reversed_) std::ranges::reverse(tokens_);
    reports.delivered.insert(reports.delivered.end(), tokens_.begin(), tokens_.end());
    acknowledged_ += tokens_.size();
    tokens_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] Lsn secure(Lsn acknowledged, Lsn) override { return acknowledged; }
  [[nodiscard]] int wake_fd() const override { return -1; }
  [[nodiscard]] std::size_t in_flight() const override { return tokens_.size(); }
  [[nodiscard]] std::size_t in_flight_bytes() const override { return bytes_; }
  void discard() noexcept override {}

  [[nodiscard]] std::size_t acknowledged() const { return acknowledged_; }

 private:
  bool reversed_;
  std::string none_;
  std::vector<Token> tokens_;
  std::size_t bytes_ = 0;
  std::size_t acknowledged_ = 0;
};

/// Time passes only in wait(). A stop is asked for once everything sent is acknowledged.
class BacklogClock final : public relay::Clock {
 public:
  BacklogClock(const BacklogSource& source, const ObligingSink& sink)
      : source_(source), sink_(sink) {}
  [[nodiscard]] relay::Instant now() const override { return now_; }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>&, relay::Instant until) override {
    constexpr relay::microseconds busy{200};
    now_ = std::clamp(until, now_, now_ + busy);
  }
  [[nodiscard]] int stop_requests() const override {
    return source_.is_dry() && sink_.in_flight() == 0 ? 1 : 0;
  }

 private:
  const BacklogSource& source_;
  const ObligingSink& sink_;
  relay::Instant now_{std::chrono::seconds(1000)};
};

/// The relay's own session, from the frame to the confirmation.
void chain(benchmark::State& state, const RowShape& shape, bool reversed = false) {
  constexpr std::size_t rows = 2000;
  BacklogSource source(shape, rows, static_cast<std::size_t>(state.range(0)));
  ObligingSink sink(reversed);
  BacklogClock clock(source, sink);
  outbox::Mapper mapper{{}};
  outbox::Router router{{}};
  const relay::Options options;
  relay::PoisonPolicy poison(options.poison, nullptr, clock);
  relay::Session session(source, sink, clock, mapper, router, options, poison);
  session.open({});
  std::size_t sent = 0;
  const auto once = [&] {
    source.refill();
    session.stream();
    sent += rows;
    return sink.acknowledged() == sent && session.confirmable() == source.sent();
  };
  measure(state, rows, once);
}

void each_transaction_size(benchmark::internal::Benchmark* registered) {
  registered->ArgName("rows")->Arg(1)->Arg(100)->Arg(2000);
}
BENCHMARK_CAPTURE(chain, json_100, RowShape{.payload_bytes = 100})->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, json_400, RowShape{})->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, json_400_without_headers, RowShape{.headers = 0})
    ->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, json_400_ten_headers, RowShape{.headers = 10})
    ->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, json_400_reports_reversed, RowShape{}, true)->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, json_16384, RowShape{.payload_bytes = 16384})
    ->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, bytea_400, RowShape{.payload = Payload::bytea})
    ->Apply(each_transaction_size);
BENCHMARK_CAPTURE(chain, bytea_16384, RowShape{.payload = Payload::bytea, .payload_bytes = 16384})
    ->Apply(each_transaction_size);

}  // namespace
}  // namespace walpost::micro
