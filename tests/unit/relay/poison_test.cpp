#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "unit/relay/scripted_relay.h"
#include "unit/relay/stream_script.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;
using scripted::Keys;

/// A table under the test's control.
class FakeLetters final : public DeadLetterStore {
 public:
  struct Letter {
    std::string what;  ///< "dead", "park" or "wait", and the event's id
    std::string key;
    std::string reason;
  };
  std::vector<Letter> letters;
  KeptLetters earlier;
  std::map<std::string, outbox::Position> parked;
  std::function<void(const DeadLetter&)> watch = [](const DeadLetter&) {};

  KeptLetters recall(const StreamStart& /*start*/) override {
    KeptLetters all = earlier;
    for (const auto& [key, since] : parked) all.parked_keys.push_back({key, since});
    return all;
  }
  void keep(const DeadLetter& letter) override { add("dead ", letter); }
  void park(const DeadLetter& letter) override {
    add("park ", letter);
    parked.emplace(*letter.key, letter.position);
  }
  [[nodiscard]] bool keep_waiting(const DeadLetter& letter) override {
    if (!parked.contains(std::string(*letter.key))) return false;
    add("wait ", letter);
    return true;
  }
  [[nodiscard]] Keys names() const {
    Keys all;
    for (const Letter& letter : letters) all.push_back(letter.what);
    return all;
  }

 private:
  void add(const std::string& how, const DeadLetter& letter) {
    watch(letter);
    letters.push_back({how + std::string(letter.event_id), std::string(letter.key.value_or("-")),
                       std::string(letter.reason)});
    earlier.positions.push_back(letter.position);
    earlier.recent.emplace_back(0);
  }
};

class PoisonTest : public scripted::ScriptedRelay {
 protected:
  PoisonTest() { letters = &table; }

  /// One transaction of rows (id, key); a null key is poison.
  void commit(std::uint64_t lsn, const std::vector<std::pair<const char*, const char*>>& rows) {
    std::vector<std::string> frames{stream::begin(Lsn{lsn}), stream::outbox_relation()};
    for (const auto& [id, key] : rows) frames.push_back(stream::insert(id, key, "{}"));
    frames.push_back(stream::commit(Lsn{lsn}, Lsn{lsn + 10}));
    source.send(frames);
  }
  void refuse_an_event_with_a_letter_topic() {
    use(OnPoison::dead_letter);
    options.poison.dead_letter_topic = "letters";
    letters = nullptr;
    sink.refused_keys = {"large"};
    step([&] { commit(200, {{"a", "large"}}); });
  }
  void use(OnPoison action) { options.poison.action = action; }

  FakeLetters table;
};

TEST_F(PoisonTest, WithoutAPolicyAnEventWithoutKeyStopsTheProcess) {
  step([&] { commit(200, {{"a", "k"}, {"b", nullptr}, {"c", "k"}}); });
  EXPECT_EQ(run().end, Outcome::End::poisoned);
  EXPECT_EQ(sink.keys(), Keys{"k"});
  EXPECT_TRUE(table.letters.empty());
}

TEST_F(PoisonTest, ADeadLetterIsKeptAndEverythingElseGoesOn) {
  use(OnPoison::dead_letter);
  sink.automatic = true;
  step([&] { commit(200, {{"a", "k"}, {"b", nullptr}, {"c", "k"}}); });
  step([] {});
  later();
  step([&] { EXPECT_EQ(source.flushed(), Lsn{210}); });
  EXPECT_EQ(run().end, Outcome::End::stopped);
  EXPECT_EQ(sink.keys(), (Keys{"k", "k"}));
  EXPECT_EQ(table.names(), Keys{"dead b"});
}

TEST_F(PoisonTest, NothingIsConfirmedPastALetterThatCouldNotBeKept) {
  use(OnPoison::dead_letter);
  sink.automatic = true;
  int attempts = 0;
  table.watch = [&](const DeadLetter&) {
    if (++attempts == 1)
      throw SessionFailure(FailureKind::transient, Side::postgres, "the table is locked");
  };
  step([&] { commit(200, {{"a", nullptr}}); });
  step([&] {
    EXPECT_EQ(source.slot, Lsn{100});
    clock.advance(milliseconds(1000));  // the backoff
  });
  step([&] { commit(200, {{"a", nullptr}}); });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{210});
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(source.opened_at, (std::vector<Lsn>{Lsn{}, Lsn{100}}));
}

TEST_F(PoisonTest, WhatTheSinkRefusesIsSetAsideWithoutEndingTheSession) {
  use(OnPoison::dead_letter);
  sink.automatic = true;
  sink.refused_keys = {"large"};
  step([&] { commit(200, {{"a", "k"}, {"b", "large"}, {"c", "k"}}); });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{210});
  EXPECT_EQ(sink.keys(), (Keys{"k", "k"}));
  ASSERT_EQ(table.names(), Keys{"dead b"});
  EXPECT_EQ(table.letters[0].key, "large");
  EXPECT_EQ(table.letters[0].reason, "too large");
  EXPECT_EQ(source.opened_at.size(), 1u);
}

TEST_F(PoisonTest, WhatTheBrokersRefuseIsSetAsideByTheNextProducer) {
  use(OnPoison::dead_letter);
  const std::vector<std::pair<const char*, const char*>> rows{
      {"a", "k1"}, {"b", "k2"}, {"c", "k3"}};
  step([&] { commit(200, rows); });
  step([&] {
    sink.failures.push_back(
        {DeliveryFailure::Kind::permanent, sink.taken[1].token, "t", "b", "no"});
    sink.failures.push_back(
        {DeliveryFailure::Kind::retryable, sink.taken[2].token, "t", "c", "given up"});
    sink.acknowledge(1);
  });
  step([&] {
    sink.taken.clear();
    sink.automatic = true;
    commit(200, rows);
  });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{210});
  EXPECT_EQ(table.names(), Keys{"dead b"});
  EXPECT_EQ(sink.keys(), (Keys{"k1", "k3"}));
  EXPECT_EQ(std::count(journal.begin(), journal.end(), "sink discard"), 2);
}

TEST_F(PoisonTest, OfARefusedBatchEachEventIsSentAloneUntilOneIsRefused) {
  for (const OnPoison action : {OnPoison::stop, OnPoison::dead_letter}) {
    use(action);
    table.letters.clear();
    table.earlier = {};
    source.slot = Lsn{100};
    source.frames.clear();
    sink.taken.clear();
    sink.automatic = false;
    clock.stops = 0;
    const std::vector<std::pair<const char*, const char*>> rows{
        {"a", "k1"}, {"b", "k2"}, {"c", "k3"}};
    step([&, rows] { commit(200, rows); });
    step([&] {
      const auto batch = {sink.taken[0].token, sink.taken[1].token};
      for (const Token token : batch)
        sink.failures.push_back({DeliveryFailure::Kind::permanent, token, "t", "", "no"});
      sink.failures.push_back(
          {DeliveryFailure::Kind::retryable, sink.taken[2].token, "t", "", "given up"});
    });
    step([&, rows] {
      sink.taken.clear();
      commit(200, rows);
    });
    step([&] {
      EXPECT_EQ(sink.keys(), Keys{"k1"});
      sink.acknowledge(1);
    });
    step([] {});
    step([&] {
      EXPECT_EQ(sink.keys(), (Keys{"k1", "k2"}));
      sink.failures.push_back(
          {DeliveryFailure::Kind::permanent, sink.taken[1].token, "t", "b", "no"});
    });
    if (action == OnPoison::stop) {
      EXPECT_EQ(run().end, Outcome::End::poisoned);
      continue;
    }
    step([&, rows] {
      sink.automatic = true;
      commit(200, rows);
    });
    for (int i = 0; i < 5; ++i) step([] {});
    EXPECT_EQ(run().confirmed, Lsn{210});
    EXPECT_EQ(table.names(), Keys{"dead b"});
  }
}

TEST_F(PoisonTest, AParkedKeysLaterEventsWaitAndOtherKeysFlow) {
  use(OnPoison::park);
  sink.automatic = true;
  sink.refused_keys = {"p"};
  step([&] { commit(200, {{"a", "p"}, {"b", "q"}, {"c", "p"}}); });
  step([&] {
    sink.refused_keys.clear();
    commit(300, {{"d", "p"}, {"e", "q"}});
  });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{310});
  EXPECT_EQ(table.names(), (Keys{"park a", "wait c", "wait d"}));
  EXPECT_EQ(sink.keys(), (Keys{"q", "q"}));
}

TEST_F(PoisonTest, AKeyIsParkedOnlyOnceItsEarlierEventsAreAcknowledged) {
  use(OnPoison::park);
  step([&] { commit(200, {{"a", "p"}}); });
  step([&] {
    sink.refused_keys = {"p"};
    commit(300, {{"b", "p"}});
  });
  step([&] {
    EXPECT_TRUE(table.letters.empty());
    sink.acknowledge(1);
  });
  step([] {});
  step([&] { EXPECT_EQ(table.names(), Keys{"park b"}); });
  EXPECT_EQ(run().confirmed, Lsn{310});
}

TEST_F(PoisonTest, AReleasedKeyFlowsAgain) {
  use(OnPoison::park);
  sink.automatic = true;
  table.parked = {{"p", {Lsn{100}, 0, {}}}};
  step([&] { commit(200, {{"a", "p"}}); });
  step([&] {
    table.parked.clear();  // by `walpost dlq retry`
    commit(300, {{"b", "p"}, {"c", "p"}});
  });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{310});
  EXPECT_EQ(table.names(), Keys{"wait a"});
  EXPECT_EQ(sink.keys(), (Keys{"p", "p"}));
}

TEST_F(PoisonTest, WhatWasPublishedBeforeItsKeyWasParkedIsRepeatedAndNotParked) {
  use(OnPoison::park);
  sink.automatic = true;
  table.parked = {{"p", {Lsn{200}, 1, {}}}};
  table.earlier.positions = {{Lsn{200}, 1, pgoutput::Timestamp{1000}}};
  step([&] { commit(200, {{"a", "p"}, {"b", "p"}, {"c", "p"}}); });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{210});
  EXPECT_EQ(sink.keys(), Keys{"p"});
  EXPECT_EQ(table.names(), Keys{"wait c"});
}

TEST_F(PoisonTest, AnEventWhoseLetterWasKeptBeforeACrashIsNotTakenAgain) {
  use(OnPoison::park);
  sink.automatic = true;
  // Parked and released since: its letter may have been published by hand.
  table.earlier.positions = {{Lsn{200}, 1, pgoutput::Timestamp{1000}},
                             {Lsn{300}, 0, pgoutput::Timestamp{999}}};  // of another timeline
  step([&] { commit(200, {{"a", "q"}, {"b", "p"}, {"c", "p"}}); });
  step([&] { commit(300, {{"d", "r"}}); });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{310});
  EXPECT_EQ(sink.keys(), (Keys{"q", "p", "r"}));
  EXPECT_TRUE(table.letters.empty());
}

TEST_F(PoisonTest, AStopWhileARefusedEventIsSetAsideIsNotSaidToBeClean) {
  use(OnPoison::dead_letter);
  step([&] { commit(200, {{"a", "k1"}, {"b", "k2"}}); });
  step([&] {
    clock.stops = 1;
    sink.failures.push_back(
        {DeliveryFailure::Kind::permanent, sink.taken[1].token, "t", "b", "no"});
    sink.acknowledge(1);
  });
  EXPECT_EQ(run().end, Outcome::End::drain_timed_out);
  EXPECT_EQ(source.slot, Lsn{100});
}

TEST_F(PoisonTest, MoreLettersWithinAnHourThanAllowedStopTheProcess) {
  use(OnPoison::dead_letter);
  options.poison.max_dead_letters = 2;
  sink.automatic = true;
  table.earlier.recent = {std::chrono::minutes(61), std::chrono::minutes(30)};
  step([&] { commit(200, {{"a", nullptr}}); });
  step([&] { commit(300, {{"b", nullptr}}); });
  EXPECT_EQ(run().end, Outcome::End::poisoned);
  EXPECT_EQ(table.names(), Keys{"dead a"});
  EXPECT_EQ(source.slot, Lsn{210});
}

TEST_F(PoisonTest, ADeadLetterTopicsReportIsTheEvents) {
  refuse_an_event_with_a_letter_topic();
  step([&] {
    ASSERT_EQ(sink.keys(), Keys{"large"});
    EXPECT_EQ(source.slot, Lsn{100});
    sink.acknowledge(1);
  });
  step([] {});
  EXPECT_EQ(run().confirmed, Lsn{210});
}

TEST_F(PoisonTest, ADeadLetterThatItsTopicRefusesStopsTheProcess) {
  refuse_an_event_with_a_letter_topic();
  step([&] {
    sink.failures.push_back(
        {DeliveryFailure::Kind::permanent, sink.taken[0].token, "letters", "a", "no"});
  });
  EXPECT_EQ(run().end, Outcome::End::poisoned);
  EXPECT_EQ(source.slot, Lsn{100});
}

}  // namespace
}  // namespace walpost::relay
