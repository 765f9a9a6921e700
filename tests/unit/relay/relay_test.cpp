#include "walpost/relay/relay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/relay/scripted_relay.h"
#include "unit/relay/stream_script.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;
using scripted::Keys;
using RelayTest = scripted::ScriptedRelay;

TEST_F(RelayTest, NothingIsConfirmedBeyondWhatTheSinkHasNoted) {
  sink.automatic = true;
  sink.noted = Lsn{100};
  source.send(stream::transaction(Lsn{110}, Lsn{120}, {"a"}));
  step([] {});
  later();
  step([&] {
    EXPECT_EQ(source.flushed(), Lsn{100});
    sink.noted = Lsn{120};
  });
  later();
  step([&] { EXPECT_EQ(source.flushed(), Lsn{120}); });
  EXPECT_EQ(run().end, Outcome::End::stopped);
}

TEST_F(RelayTest, ConfirmsATransactionOnlyAfterEveryRecordIsAcknowledged) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a", "b"})); });
  later();
  step([&] {
    EXPECT_EQ(sink.keys(), (Keys{"k-a", "k-b"}));
    EXPECT_LE(source.flushed(), Lsn{100});
    sink.acknowledge(1);
  });
  later();
  step([&] {
    EXPECT_LE(source.flushed(), Lsn{100});
    sink.acknowledge(1);
  });
  later();
  later();
  step([&] { EXPECT_EQ(source.flushed(), Lsn{210}); });
  EXPECT_EQ(run().end, Outcome::End::stopped);
}

TEST_F(RelayTest, AKeepaliveIsNotConfirmedBeforeTheTransactionInFrontOfIt) {
  step([&] {
    source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"}));
    source.send({stream::keepalive(Lsn{900}, true)});
  });
  later();
  later();
  step([&] {
    EXPECT_LE(source.flushed(), Lsn{100});
    EXPECT_EQ(source.statuses.back().written, Lsn{900});
    sink.acknowledge(1);
  });
  later();
  later();
  step([&] { EXPECT_EQ(source.flushed(), Lsn{900}); });
  run();
}

TEST_F(RelayTest, AnIdleStreamAdvancesWithKeepalives) {
  step([&] { source.send({stream::keepalive(Lsn{5000})}); });
  later();
  later();
  step([&] { EXPECT_EQ(source.flushed(), Lsn{5000}); });
  run();
}

TEST_F(RelayTest, ASignOfLifeIsSentThreeTimesPerSenderTimeoutThoughTheSinkIsFull) {
  source.sender_timeout = milliseconds(2000);
  sink.full = true;
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  for (int i = 0; i < 100; ++i) later();  // 3 s
  step([&] {
    EXPECT_GE(source.statuses.size(), 4u);
    EXPECT_TRUE(source.statuses.back().reply_requested);
    EXPECT_LE(source.flushed(), Lsn{100});
  });
  run();
}

TEST_F(RelayTest, ReadingStopsAtTheLimitAndGoesOnBelowIt) {
  options.in_flight_events = 2;
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a", "b", "c"})); });
  later();
  later();
  step([&] {
    EXPECT_EQ(sink.keys(), (Keys{"k-a", "k-b"}));
    EXPECT_FALSE(source.frames.empty());
    sink.acknowledge(1);
  });
  later();
  step([&] { EXPECT_EQ(sink.keys(), (Keys{"k-a", "k-b", "k-c"})); });
  run();
}

TEST_F(RelayTest, ReadingStopsAtTheLimitOfBytes) {
  options.in_flight_bytes = 100;  // one record of the fake
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a", "b"})); });
  later();
  step([&] { EXPECT_EQ(sink.keys(), Keys{"k-a"}); });
  run();
}

TEST_F(RelayTest, ARecordTheSinkDidNotTakeIsOfferedAgainBeforeAnyOther) {
  sink.full = true;
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a", "b"})); });
  later();
  later();
  step([&] {
    EXPECT_TRUE(sink.taken.empty());
    EXPECT_GT(sink.offers, 1);
    sink.full = false;
  });
  later();
  step([&] { EXPECT_EQ(sink.keys(), (Keys{"k-a", "k-b"})); });
  run();
}

TEST_F(RelayTest, AStopWaitsForAcknowledgementsAndConfirmsThem) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] { clock.stops = 1; });
  later();
  step([&] { sink.acknowledge(1); });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.end, Outcome::End::stopped);
  EXPECT_EQ(outcome.confirmed, Lsn{210});
  EXPECT_EQ(source.slot, Lsn{210});
  EXPECT_EQ(journal.back(), "source close");
}

TEST_F(RelayTest, AStopInsideATransactionFinishesItWhenRecordsAreOutAlready) {
  auto frames = stream::transaction(Lsn{200}, Lsn{210}, {"a", "b"});
  const auto next = stream::transaction(Lsn{300}, Lsn{310}, {"c"});
  const std::vector<std::string> first(frames.begin(), frames.begin() + 3);
  std::vector<std::string> rest(frames.begin() + 3, frames.end());
  rest.insert(rest.end(), next.begin(), next.end());
  sink.automatic = true;
  step([&] { source.send(first); });
  step([&] { clock.stops = 1; });
  step([&] { source.send(rest); });
  later();
  EXPECT_EQ(run().confirmed, Lsn{210});
  EXPECT_EQ(sink.keys(), (Keys{"k-a", "k-b"}));  // and the next transaction isn't begun
}

TEST_F(RelayTest, AStopInsideATransactionWaitsForItsEndWithoutSpinning) {
  sink.automatic = true;
  const std::vector<const char*> many(300, "a");
  for (const std::uint64_t lsn : {200u, 300u, 400u})  // 300 rows in 10 ms: rows are collected
    step([&, lsn] {
      clock.advance(milliseconds(10));
      source.send(stream::transaction(Lsn{lsn}, Lsn{lsn + 10}, many));
    });
  step([&] { clock.advance(milliseconds(10)); });
  const auto last = stream::transaction(Lsn{500}, Lsn{510}, {"b", "c"});
  step([&] { source.send({last[0], last[1], last[2]}); });
  step([&] { clock.advance(milliseconds(10)); });
  step([&] {
    clock.stops = 1;
    clock.spins = 0;
  });
  for (int i = 0; i < 20; ++i) step([] {});
  step([&] {
    EXPECT_EQ(clock.spins, 0);
    source.send({last[3], last[4]});
  });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{510});
}

TEST_F(RelayTest, AStopWithoutAcknowledgementsEndsAtTheDeadlineAndConfirmsNothing) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] { clock.stops = 1; });
  step([&] { clock.advance(options.drain_timeout); });
  EXPECT_EQ(run().end, Outcome::End::drain_timed_out);
  EXPECT_EQ(source.slot, Lsn{100});
}

TEST_F(RelayTest, AStopWhileNoConnectionIsMadeAnyMoreStillSaysWhatWasLeftUnacknowledged) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] {
    source.breaks = SessionFailure(FailureKind::transient, Side::postgres, "connection lost");
    source.refusals.emplace_back(FailureKind::transient, Side::postgres, "connection refused");
  });
  step([&] { clock.advance(milliseconds(1000)); });  // the backoff
  step([&] { clock.stops = 1; });
  EXPECT_EQ(run().end, Outcome::End::drain_timed_out);
  EXPECT_EQ(source.opened_at.size(), 2u);
}

TEST_F(RelayTest, AStandbyThatOnceHeldTheSlotStopsCleanlyWhateverItLeftUnacknowledged) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] {
    source.breaks = SessionFailure(FailureKind::transient, Side::postgres, "connection lost");
    source.refusals.emplace_back(FailureKind::slot_active, Side::postgres, "slot is active");
  });
  step([&] { clock.advance(milliseconds(1000)); });  // the backoff
  step([&] { clock.stops = 1; });
  EXPECT_EQ(run().end, Outcome::End::stopped);
  EXPECT_EQ(source.opened_at.size(), 2u);
}

TEST_F(RelayTest, ASecondStopEndsAtOnce) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] { clock.stops = 1; });
  step([&] { clock.stops = 2; });
  const Instant before = clock.now();
  EXPECT_EQ(run().end, Outcome::End::drain_timed_out);
  EXPECT_LT(clock.now() - before, milliseconds(100));
}

TEST_F(RelayTest, APermanentFailureEndsTheProcessAndConfirmsOnlyWhatStandsBeforeIt) {
  step([&] {
    source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"}));
    source.send(stream::transaction(Lsn{300}, Lsn{310}, {"b"}));
    source.send(stream::transaction(Lsn{400}, Lsn{410}, {"c"}));
  });
  step([&] {
    sink.failures.push_back(
        {DeliveryFailure::Kind::permanent, sink.taken[1].token, "t", "b", "no"});
    sink.acknowledge(1);
  });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.end, Outcome::End::poisoned);
  EXPECT_EQ(source.slot, Lsn{210});
  EXPECT_EQ(journal, (std::vector<std::string>{"source open", "sink open", "source finish",
                                               "sink discard", "source close"}));
}

TEST_F(RelayTest, AFailedProducerIsDestroyedAndTheStreamRestartsFromTheAcknowledgedPrefix) {
  for (const auto kind : {DeliveryFailure::Kind::fatal, DeliveryFailure::Kind::retryable}) {
    journal.clear();
    source.opened_at.clear();
    source.slot = Lsn{100};
    sink.taken.clear();
    clock.stops = 0;
    step([&] {
      source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"}));
      source.send(stream::transaction(Lsn{300}, Lsn{310}, {"b"}));
    });
    step([&, kind] {
      sink.failures.push_back({kind, sink.taken[1].token, "t", "b", "gone"});
      sink.acknowledge(1);
    });
    step([&] { clock.advance(milliseconds(1000)); });  // the backoff
    later();
    EXPECT_EQ(run().end, Outcome::End::stopped);
    EXPECT_EQ(source.opened_at, (std::vector<Lsn>{Lsn{}, Lsn{210}}));
    EXPECT_EQ(journal,
              (std::vector<std::string>{"source open", "sink open", "source finish", "sink discard",
                                        "source close", "source open", "sink open", "source finish",
                                        "sink discard", "source close"}));
  }
}

TEST_F(RelayTest, ALostReplicationConnectionPurgesTheProducerBeforeReconnecting) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] {
    source.breaks = SessionFailure(FailureKind::transient, Side::postgres, "connection lost");
  });
  step([&] { clock.advance(milliseconds(1000)); });
  later();
  run();
  EXPECT_EQ(journal, (std::vector<std::string>{"source open", "sink open", "sink discard",
                                               "source close", "source open", "sink open",
                                               "source finish", "sink discard", "source close"}));
  EXPECT_EQ(source.opened_at.back(), Lsn{100});  // nothing was acknowledged in between
}

TEST_F(RelayTest, AnAcknowledgementTheServerNeverHeardOfIsNotPublishedAgain) {
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] {
    sink.acknowledge(1);
    source.breaks = SessionFailure(FailureKind::transient, Side::postgres, "connection lost");
  });
  step([&] { clock.advance(milliseconds(1000)); });
  later();
  run();
  EXPECT_EQ(source.opened_at.back(), Lsn{210});
}

TEST_F(RelayTest, ARefusedStreamEndsTheProcess) {
  source.refusals.emplace_back(FailureKind::refused, Side::postgres, "slot walpost does not exist",
                               "walpost init");
  EXPECT_EQ(run().end, Outcome::End::refused);
  EXPECT_EQ(source.opened_at.size(), 1u);
}

// It isn't read again: the next process is refused before it comes so far.
TEST_F(RelayTest, WhatWasReadBeforeARefusalIsStillPublishedThoughTheServerHasEndedTheStream) {
  step([&] {
    source.send(stream::transaction(Lsn{200}, Lsn{205}, {"a"}));
    source.send(stream::transaction(Lsn{207}, Lsn{210}, {"b"}));
  });
  step([&] {
    source.deaf = true;
    source.breaks = SessionFailure(FailureKind::refused, Side::postgres,
                                   "publication walpost does not exist", "renew the slot");
  });
  step([&] { sink.acknowledge(1); });
  later();
  step([&] { sink.acknowledge(1); });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.end, Outcome::End::refused);
  EXPECT_EQ(outcome.confirmed, Lsn{210});
  EXPECT_EQ(source.slot, Lsn{100});
}

TEST_F(RelayTest, AStandbyAsksEverySecondAndMakesNoProducer) {
  for (int i = 0; i < 3; ++i)
    source.refusals.emplace_back(FailureKind::slot_active, Side::postgres, "slot is active");
  for (int i = 0; i < 3; ++i)
    step([&] {
      EXPECT_EQ(std::count(journal.begin(), journal.end(), "sink open"), 0);
      clock.advance(milliseconds(1000));
    });
  later();
  EXPECT_EQ(run().end, Outcome::End::stopped);
  EXPECT_EQ(source.opened_at.size(), 4u);
  EXPECT_EQ(std::count(journal.begin(), journal.end(), "sink open"), 1);
}

TEST_F(RelayTest, AServerThatIsShuttingDownIsLetGoAndLeftAloneForTenSeconds) {
  const auto storm = [&] {
    for (int i = 0; i < 50; ++i) source.send({stream::keepalive(Lsn{5000}, true)});
  };
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step(storm);
  later();
  step([&] { clock.advance(milliseconds(1100)); });  // the grace: the broker stays silent
  step([&] {
    EXPECT_EQ(journal.back(), "source close");
    EXPECT_LE(source.flushed(), Lsn{100});
    clock.advance(milliseconds(9000));
  });
  step([&] {
    EXPECT_EQ(source.opened_at.size(), 1u);
    clock.advance(milliseconds(1000));
  });
  later();
  run();
  EXPECT_EQ(source.opened_at.size(), 2u);
}

TEST_F(RelayTest, AServerSeenStoppingWhileReadingIsPausedIsLetGoToo) {
  sink.full = true;
  step([&] { source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"})); });
  step([&] { source.stopping = true; });
  step([&] { clock.advance(milliseconds(1100)); });
  step([&] { EXPECT_EQ(journal.back(), "source close"); });
  run();
}

TEST_F(RelayTest, AnEventThatCannotBePublishedStopsTheProcessWithNothingConfirmedPastIt) {
  step([&] {
    source.send(stream::transaction(Lsn{200}, Lsn{210}, {"a"}));
    source.send({stream::begin(Lsn{300}), stream::insert("b", nullptr, "{}"),
                 stream::commit(Lsn{300}, Lsn{310})});
    source.send(stream::transaction(Lsn{400}, Lsn{410}, {"c"}));
    sink.automatic = true;
  });
  EXPECT_EQ(run().end, Outcome::End::poisoned);
  EXPECT_EQ(source.slot, Lsn{210});
  EXPECT_EQ(sink.keys(), Keys{"k-a"});
}

TEST_F(RelayTest, AStreamThatBreaksItsGrammarIsRefusedNotSkipped) {
  const std::vector<std::vector<std::string>> broken{
      {stream::begin(Lsn{200}), stream::commit(Lsn{201}, Lsn{210})},
      {stream::commit(Lsn{200}, Lsn{210})},
      {stream::begin(Lsn{200}), stream::begin(Lsn{300})},
      {stream::begin(Lsn{200}), stream::insert("a", "k", "{}")},  // no Relation before
      {"x"},
      {stream::begin(Lsn{200}) + "trailing"},
  };
  for (const auto& frames : broken) {
    clock.stops = 0;
    clock.steps.clear();
    source.frames.clear();
    step([&] { source.send(frames); });
    EXPECT_EQ(run().end, Outcome::End::refused);
    EXPECT_EQ(source.slot, Lsn{100});
  }
}

TEST_F(RelayTest, DataThatIsNotCommittedYetIsRefused) {
  for (const std::string& frame :
       {stream::stream_start(), stream::begin_prepare(Lsn{200}, Lsn{210})}) {
    clock.stops = 0;
    clock.steps.clear();
    source.frames.clear();
    step([&] { source.send({frame}); });
    EXPECT_EQ(run().end, Outcome::End::refused);
    EXPECT_EQ(source.slot, Lsn{100});
  }
}

TEST_F(RelayTest, AMissingTopicIsARefusal) {
  step([&] {
    sink.refuses = SessionFailure(FailureKind::refused, Side::kafka, "topic t does not exist");
  });
  EXPECT_EQ(run().end, Outcome::End::refused);
}

}  // namespace
}  // namespace walpost::relay
