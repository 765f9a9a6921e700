#include "walpost/relay/status_reporter.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "walpost/relay/ack_tracker.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;

class StandingClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return Instant(std::chrono::hours(1)); }
  [[nodiscard]] pgoutput::Timestamp utc() const override { return {}; }
  void wait(std::vector<pollfd>&, Instant) override {}
  [[nodiscard]] int stop_requests() const override { return 0; }
};

class Server final : public Source {
 public:
  std::vector<pgoutput::StandbyStatus> heard;

  StreamStart open(Lsn) override { return {}; }
  void watch(std::vector<pollfd>&, bool) override {}
  void receive(bool) override {}
  std::optional<std::string_view> next() override { return std::nullopt; }
  void send_status(const pgoutput::StandbyStatus& status) override { heard.push_back(status); }
  [[nodiscard]] bool server_stopping() const override { return false; }
  std::optional<Lsn> finish(milliseconds) override { return std::nullopt; }
  void close() noexcept override {}
};

class StatusReporterTest : public testing::Test {
 protected:
  StandingClock clock;
  Server server;
  AckTracker tracker;
  StatusReporter status{server, clock, milliseconds(20)};
};

TEST_F(StatusReporterTest, SaysWhatWasReceivedAndConfirmsOnlyWhatWasAcknowledged) {
  tracker.reset(Lsn{0x100});
  status.reset({.start = Lsn{0x100}});
  tracker.begin(Lsn{0x110}, {});
  const Token token = tracker.add_record(0);
  tracker.commit(Lsn{0x120});
  status.send({tracker.received(), tracker.confirmable()});
  tracker.delivered(token);
  status.send({tracker.received(), tracker.confirmable()});
  ASSERT_EQ(server.heard.size(), 2u);
  EXPECT_EQ(server.heard[0].written, Lsn{0x120});
  EXPECT_EQ(server.heard[0].flushed, Lsn{0x100});
  EXPECT_EQ(server.heard[1].flushed, Lsn{0x120});
  EXPECT_EQ(status.sent_flush(), Lsn{0x120});
}

TEST_F(StatusReporterTest, AConfirmationThatWouldGoBackIsAnErrorAndIsNotSent) {
  tracker.reset(Lsn{0x100});
  status.reset({.start = Lsn{0x200}});
  EXPECT_THROW(status.send({tracker.received(), tracker.confirmable()}), std::logic_error);
  EXPECT_TRUE(server.heard.empty());
}

}  // namespace
}  // namespace walpost::relay
