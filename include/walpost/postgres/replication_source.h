#pragma once

#include <memory>
#include <optional>

#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/options.h"
#include "walpost/postgres/slot_health.h"
#include "walpost/relay/clock.h"
#include "walpost/relay/position_recall.h"
#include "walpost/relay/source.h"

namespace walpost::postgres {

/// The logical replication stream of one slot over libpq: the Source of the product.
class ReplicationSource final : public relay::Source {
 public:
  /// `clock` is asked for the time and, while connecting, for stop requests. `mapping` and `router`
  /// are what preflight checks the published tables against; `recall` is where the slot's position
  /// is kept besides a file, or null. All must outlive this.
  ReplicationSource(Options options, const outbox::MappingOptions& mapping,
                    const outbox::Router& router, relay::Clock& clock,
                    relay::PositionRecall* recall = nullptr);
  ~ReplicationSource() override;

  /// Where several hosts are named, the connect timeout is each one's. Host names are looked up by
  /// the system's resolver, whose own time limit comes on top.
  relay::StreamStart open(pgoutput::Lsn confirmed) override;
  void watch(std::vector<pollfd>& fds, bool reading) override;
  void receive(bool reading) override;
  std::optional<std::string_view> next() override;
  void send_status(const pgoutput::StandbyStatus& status) override;
  [[nodiscard]] bool server_stopping() const override;
  std::optional<pgoutput::Lsn> finish(std::chrono::milliseconds timeout) override;
  void close() noexcept override;

  /// The slot as it was when last asked, every 10 s; nothing before the first answer.
  [[nodiscard]] std::optional<SlotHealth> slot_health() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace walpost::postgres
