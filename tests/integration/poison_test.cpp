// What becomes of events that can't be published: real rows, a real table of dead letters, real
// topics that refuse.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "integration/outbox_world.h"
#include "support/kafka_admin.h"
#include "support/kafka_reader.h"

namespace walpost::test {
namespace {

constexpr int refused = 3;
constexpr int poisoned = 4;
const std::vector<std::string> parking{"delivery.on_poison=park"};
const std::vector<std::string> setting_aside{"delivery.on_poison=dead_letter"};

WorldOptions with_letters(std::map<std::string, std::string> topic_configs = {}) {
  return {.topic_configs = std::move(topic_configs), .init = {"--dead-letter"}};
}

/// One committed row; SQL for each value.
void insert(OutboxWorld& world, const std::string& key, const std::string& payload = "'{}'",
            const std::string& headers = "null", const std::string& type = "'order'") {
  world.server.exec(
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers) values (" +
      type + ", " + key + ", 'E', " + payload + ", " + headers + ")");
}

Finished dlq(const OutboxWorld& world, std::vector<std::string> arguments) {
  WalpostOptions options = world.arguments();
  options.extra = std::move(arguments);
  return Walpost::command("dlq", options, Deadline::in(milliseconds(60000)));
}

std::vector<std::string> keys_in(const std::vector<ReadRecord>& records) {
  std::vector<std::string> keys;
  keys.reserve(records.size());
  for (const auto& record : records) keys.push_back(record.key.value_or("(null)"));
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<ReadRecord> records_of(const std::string& topic) {
  return KafkaReader(KafkaBroker::shared().bootstrap(), topic)
      .read_to_end(Deadline::in(milliseconds(20000)));
}

using Keys = std::vector<std::string>;

struct Case {
  std::string name;
  std::string table_change;
  std::string row;     ///< VALUES of the one that can't be published
  std::string letter;  ///< what holds of its letter, in SQL
  std::vector<std::string> set = {};
  std::map<std::string, std::string> topic_configs = {};
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"NullKey", "alter table outbox alter aggregate_id drop not null",
       "('T', null, 'E', '{\"n\": 1}', null, now())",
       "key is null and topic is not null and value = '{\"n\": 1}' and reason ~ 'aggregate_id'"},
      {"NullPayload", "alter table outbox alter payload drop not null",
       "('T', 'k', 'E', null, null, now())", "key = 'k' and value is null and reason ~ 'payload'"},
      {"MalformedHeaders", "", "('T', 'k', 'E', '{}', '[1]', now())",
       "key = 'k' and row_headers = '[1]' and reason ~ 'headers'"},
      {"TimeOutsideRfc3339", "", "('T', 'k', 'E', '{}', null, 'infinity')",
       "key = 'k' and reason ~ 'created_at'"},
      {"IllegalTopic", "", "('no such', 'k', 'E', '{}', null, now())",
       "key = 'k' and topic is null and reason ~ 'legal Kafka topic'"},
      {"TopicThatDoesNotExist", "", "('absent', 'k', 'E', '{}', null, now())",
       "key = 'k' and topic = 'absent' and reason ~ 'does not exist'"},
      {"TooLargeForTheTopic",
       "",
       "('T', 'k', 'E', jsonb_build_object('t', repeat('x', 30000)), null, now())",
       "key = 'k' and length(value) > 30000 and reason ~ 'too large'",
       {},
       {{"max.message.bytes", "20000"}}},
      // Compressed it might fit: only the broker can tell, and it tells of a whole batch.
      {"RefusedByTheBroker",
       "",
       "('T', 'k', 'E', (select jsonb_build_object('t', string_agg(md5(g::text), '')) from "
       "generate_series(1, 3000) g), null, now())",
       "key = 'k' and length(value) > 90000 and reason ~* 'too large'",
       {"kafka.compression.type=gzip"},
       {{"max.message.bytes", "20000"}}},
  };
  return all;
}

class DeadLetter : public ::testing::TestWithParam<Case> {};

TEST_P(DeadLetter, IsKeptInTheTableOnceAndEveryOtherEventIsPublished) {
  const Case& one = GetParam();
  OutboxWorld world(KafkaBroker::shared(), with_letters(one.topic_configs));
  if (!one.table_change.empty()) world.server.exec(one.table_change);
  const std::string head =
      "insert into outbox(aggregate_type, aggregate_id, event_type, payload, headers, created_at) "
      "values ";
  const std::string tail = ", 'E', '{}', null, now());";
  std::string row = one.row;
  if (const auto at = row.find("'T'"); at != std::string::npos)
    row.replace(at, 3, "'" + world.topic + "'");
  const std::string good = head + "('" + world.topic + "', ";
  world.server.exec(good + "'before'" + tail + head + row + ";" + good + "'after'" + tail);
  WalpostOptions options = world.arguments(setting_aside);
  options.set.insert(options.set.end(), one.set.begin(), one.set.end());
  options.set.emplace_back("route.topic={aggregate_type}");
  for (int attempt = 0; attempt < 2; ++attempt) {
    Walpost walpost(options);
    walpost.wait_until_streaming();
    ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
    EXPECT_EQ(walpost.stop(), exited(0)) << walpost.log();
  }
  EXPECT_EQ(world.server.value("select count(*) from walpost.dead_letter"), "1");
  EXPECT_EQ(
      world.server.value("select count(*) from walpost.dead_letter d join outbox o on o.id::text = "
                         "d.event_id where state = 'dead' and table_name = 'public.outbox' and "
                         "d.headers::text ~ 'walpost-position' and " +
                         one.letter),
      "1")
      << dlq(world, {"list"}).out;
  const auto records = records_of(world.topic);
  const auto keys = keys_in(records);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()),
            (std::set<std::string>{"after", "before"}));
}

INSTANTIATE_TEST_SUITE_P(Of, DeadLetter, ::testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name; });

TEST(Park, AKeysLaterEventsWaitInOrderUntilTheKeyIsRetried) {
  OutboxWorld world(KafkaBroker::shared(), with_letters({{"max.message.bytes", "20000"}}));
  Walpost walpost = world.start(parking);
  walpost.wait_until_streaming();
  const std::string large = "jsonb_build_object('t', repeat('x', 30000))";
  insert(world, "'p'", "'{\"n\": 1}'");
  insert(world, "'p'", large);
  insert(world, "'q'", "'{\"n\": 1}'");
  insert(world, "'p'", "'{\"n\": 3}'");
  insert(world, "'p'", "'{\"n\": 4}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(keys_in(records_of(world.topic)), (Keys{"p", "q"}));
  EXPECT_EQ(world.server.value("select string_agg(state, ',') from walpost.dead_letter"),
            "parked,parked,parked");

  // Not in their turn, then without mending anything: nothing moves.
  EXPECT_EQ(dlq(world, {"retry", "2"}).status, exited(refused));
  const Finished too_early = dlq(world, {"retry", "--key", "p"});
  EXPECT_EQ(too_early.status, exited(poisoned)) << too_early.out << too_early.err;
  EXPECT_NE(too_early.out.find("too large"), std::string::npos) << too_early.out;
  EXPECT_EQ(world.server.value("select attempts from walpost.dead_letter where id = 1"), "2");
  EXPECT_EQ(records_of(world.topic).size(), 2u);

  set_topic_configs(KafkaBroker::shared().bootstrap(), world.topic,
                    {{"max.message.bytes", "100000"}}, Deadline::in(milliseconds(10000)));
  const Finished done = dlq(world, {"retry", "1"});
  EXPECT_EQ(done.status, exited(0)) << done.out << done.err;
  insert(world, "'p'", "'{\"n\": 5}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));

  Keys values;
  for (const auto& record : records_of(world.topic)) {
    if (record.key == "p") values.push_back(record.value.value().substr(0, 8));
  }
  EXPECT_EQ(values, (Keys{"{\"n\": 1}", "{\"t\": \"x", "{\"n\": 3}", "{\"n\": 4}", "{\"n\": 5}"}));
  EXPECT_EQ(world.server.value("select count(*) from walpost.parked_key"), "0");
  EXPECT_EQ(dlq(world, {"list"}).out, "no dead letters\n");
}

TEST(Park, ARetryKeepsAKeysOrderAlsoAcrossTopics) {
  OutboxWorld world(KafkaBroker::shared(), with_letters());
  const std::string other = KafkaBroker::unique_topic("other");
  KafkaBroker::shared().create_topic(other, 1, {{"max.message.bytes", "20000"}});
  world.server.exec("alter table outbox alter payload drop not null");
  Walpost walpost = world.start(parking);
  insert(world, "'p'", "null");
  insert(world, "'p'", "'{\"n\": 2}'");
  insert(world, "'p'", "'{\"n\": 3}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  // The second goes elsewhere, where only the broker can tell that it is too large.
  world.server.exec("update walpost.dead_letter set value = '{\"n\": 1}' where id = 1");
  world.server.exec("update walpost.dead_letter set topic = '" + other +
                    "', value = (select decode(string_agg(md5(g::text), ''), 'hex') from "
                    "generate_series(1, 3000) g) where id = 2");
  const auto retry = [&] {
    WalpostOptions options = world.arguments({"kafka.compression.type=gzip"});
    options.extra = {"retry", "--key", "p"};
    return Walpost::command("dlq", options, Deadline::in(milliseconds(60000))).status;
  };
  EXPECT_EQ(retry(), exited(poisoned));
  EXPECT_EQ(records_of(world.topic).size(), 1u);  // the third did not pass the second
  EXPECT_EQ(world.server.value("select string_agg(state || attempts, ',' order by id) from "
                               "walpost.dead_letter"),
            "published1,parked2,parked1");
  set_topic_configs(KafkaBroker::shared().bootstrap(), other, {{"max.message.bytes", "200000"}},
                    Deadline::in(milliseconds(10000)));
  EXPECT_EQ(retry(), exited(0));
  EXPECT_EQ(records_of(other).size(), 1u);
  EXPECT_EQ(records_of(world.topic).size(), 2u);
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(Park, ADiscardedLetterLetsTheRestOfItsKeyBeRetried) {
  OutboxWorld world(KafkaBroker::shared(), with_letters());
  world.server.exec("alter table outbox alter payload drop not null");
  Walpost walpost = world.start(parking);
  insert(world, "'p'", "null");
  insert(world, "'p'", "'{\"n\": 2}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const Finished discarded = dlq(world, {"discard", "1"});
  EXPECT_EQ(discarded.status, exited(0)) << discarded.err;
  EXPECT_NE(discarded.out.find("still wait"), std::string::npos) << discarded.out;
  EXPECT_EQ(dlq(world, {"retry", "--all"}).status, exited(0));
  insert(world, "'p'", "'{\"n\": 3}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  Keys values;
  for (const auto& record : records_of(world.topic)) values.push_back(record.value.value());
  EXPECT_EQ(values, (Keys{"{\"n\": 2}", "{\"n\": 3}"}));
  EXPECT_EQ(dlq(world, {"discard", "2"}).status, exited(refused));  // published
}

TEST(Letters, AreShownWholeAndEditedOnesArePublished) {
  OutboxWorld world(KafkaBroker::shared(), with_letters());
  world.server.exec("alter table outbox alter payload drop not null");
  Walpost walpost = world.start(setting_aside);
  insert(world, "'k'", "null", "'{\"traceId\": \"t1\"}'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const Finished shown = dlq(world, {"show", "1"});
  EXPECT_EQ(shown.status, exited(0)) << shown.err;
  for (const std::string line : {"state: dead", "key: k", "header traceId: t1", "value: (null)"}) {
    EXPECT_NE(shown.out.find(line + "\n"), std::string::npos) << shown.out;
  }
  const Finished json = dlq(world, {"show", "1", "--json"});
  EXPECT_NE(json.out.find("\"headers\":[[\"traceId\",\"t1\"],[\"messageId\","), std::string::npos)
      << json.out;
  world.server.exec("update walpost.dead_letter set value = '{\"mended\": true}'");
  EXPECT_EQ(dlq(world, {"retry", "1"}).status, exited(0));
  EXPECT_EQ(dlq(world, {"retry", "1"}).status, exited(refused));  // published already
  const auto records = records_of(world.topic);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].value, "{\"mended\": true}");
  EXPECT_EQ(records[0].header("traceId"), "t1");
  EXPECT_EQ(records[0].header("messageId"), world.server.value("select id from outbox"));
  EXPECT_NE(dlq(world, {"list", "--all"}).out.find("published"), std::string::npos);
  EXPECT_EQ(walpost.stop(), exited(0));
}

TEST(Letters, GoToATopicWithTheReasonInTheirHeadersWhereOneIsNamed) {
  OutboxWorld world(KafkaBroker::shared(), {.topic_configs = {{"max.message.bytes", "20000"}}});
  const std::string letters = KafkaBroker::unique_topic("letters");
  KafkaBroker::shared().create_topic(letters, 1, {});
  Walpost walpost =
      world.start({"delivery.on_poison=dead_letter", "delivery.dead_letter_topic=" + letters});
  insert(world, "'a'");
  insert(world, "'large'", "jsonb_build_object('t', repeat('x', 30000))");
  insert(world, "'b'");
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  EXPECT_EQ(keys_in(records_of(world.topic)), (Keys{"a", "b"}));
  const auto kept = records_of(letters);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].key, "large");
  EXPECT_GT(kept[0].value.value().size(), 30000u);
  EXPECT_EQ(kept[0].header("walpost-dead-letter-topic"), world.topic);
  EXPECT_EQ(kept[0].header("walpost-dead-letter-table"), "public.outbox");
  EXPECT_NE(kept[0].header("walpost-dead-letter-reason").value().find("too large"),
            std::string::npos);
  EXPECT_TRUE(kept[0].header("messageId").has_value());
}

TEST(Letters, WithoutTheirTableRunAndCheckRefuseAndNameTheCommandThatMakesIt) {
  OutboxWorld world(KafkaBroker::shared());
  Walpost walpost = world.start(parking);
  EXPECT_EQ(walpost.wait(), exited(refused));
  EXPECT_NE(walpost.log().find("walpost init --dead-letter"), std::string::npos) << walpost.log();
  const Finished failing = Walpost::command("check", world.arguments(parking));
  EXPECT_EQ(failing.status, exited(1));
  EXPECT_NE(failing.out.find("walpost init --dead-letter"), std::string::npos) << failing.out;
  WalpostOptions init = world.arguments();
  init.extra = {"--dead-letter"};
  EXPECT_EQ(Walpost::command("init", init).status, exited(0));
  EXPECT_EQ(Walpost::command("init", init).status, exited(0));  // idempotent
  const Finished passing = Walpost::command("check", world.arguments(parking));
  EXPECT_EQ(passing.status, exited(0)) << passing.out;
}

TEST(Letters, MoreThanAllowedInAnHourStopTheProcessAlsoAcrossRestarts) {
  OutboxWorld world(KafkaBroker::shared(), with_letters());
  world.server.exec("alter table outbox alter payload drop not null");
  auto set = setting_aside;
  set.emplace_back("delivery.max_dead_letters=2");
  insert(world, "'a'", "null");
  {
    Walpost walpost = world.start(set);
    ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
    EXPECT_EQ(walpost.stop(), exited(0));
  }
  insert(world, "'b'", "null");
  insert(world, "'c'", "null");
  Walpost walpost = world.start(set);
  EXPECT_EQ(walpost.wait(), exited(poisoned));
  EXPECT_NE(walpost.log().find("max_dead_letters"), std::string::npos) << walpost.log();
  EXPECT_EQ(world.server.value("select count(*) from walpost.dead_letter"), "2");
}

/// What the topic and the table of dead letters hold of what was committed.
struct Account {
  std::size_t committed = 0, published = 0, repeats = 0, lost = 0, out_of_order = 0, foreign = 0;
};

Account account(OutboxWorld& world) {
  const auto events = world.committed_events();
  std::map<std::string, std::size_t> rank;
  for (std::size_t i = 0; i < events.size(); ++i) rank[events[i].id] = i;
  std::set<std::string> seen;
  std::map<std::string, std::size_t> newest;
  Account result;
  result.committed = events.size();
  for (const auto& record : records_of(world.topic)) {
    ++result.published;
    const std::string id = record.header("messageId").value_or("");
    if (!rank.contains(id)) {
      ++result.foreign;
      continue;
    }
    if (!seen.insert(id).second) {
      ++result.repeats;
      continue;
    }
    auto& last = newest[record.key.value()];
    if (rank[id] + 1 < last) ++result.out_of_order;
    last = std::max(last, rank[id] + 1);
  }
  result.lost = events.size() - seen.size();
  return result;
}

TEST(Park, NothingIsLostOrReorderedWhenKilledAtRandomWhileLettersAreMendedAndRetried) {
  OutboxWorld world(KafkaBroker::shared(), with_letters());
  // One row in three hundred can't be published until somebody mends its letter.
  world.server.exec(
      "alter table outbox alter payload drop not null;"
      "create function spoil() returns trigger language plpgsql as $$ begin "
      "if random() < 0.003 then new.payload := null; end if; return new; end $$;"
      "create trigger spoil before insert on outbox for each row execute function spoil()");
  std::mt19937 random(20261201);
  auto set = parking;
  set.emplace_back("delivery.max_dead_letters=1000000");
  const auto writers = world.start_writers(4, 8);
  std::size_t kills = 0;
  while (writers->running()) {
    Walpost walpost = world.start(set);
    walpost.wait_until_streaming();
    static_cast<void>(eventually([&] { return !writers->running(); },
                                 Deadline::in(milliseconds(300 + random() % 900))));
    if (random() % 2 == 0) {
      world.server.exec(
          "update walpost.dead_letter set value = '{\"mended\": 1}' where value is null");
      EXPECT_EQ(dlq(world, {"retry", "--all"}).status, exited(0));
    }
    walpost.kill();
    ++kills;
  }
  Walpost walpost = world.start(set);
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  const std::string waiting =
      world.server.value("select count(*) from walpost.dead_letter where state = 'parked'");
  world.server.exec("update walpost.dead_letter set value = '{\"mended\": 1}' where value is null");
  const Finished last = dlq(world, {"retry", "--all"});
  EXPECT_EQ(last.status, exited(0)) << last.out << last.err;
  ASSERT_TRUE(world.wait_until_confirmed()) << walpost.log();
  EXPECT_EQ(walpost.stop(), exited(0));
  const Account all = account(world);
  std::cout << "parked: " << all.committed << " events, " << kills << " kills, "
            << world.server.value("select count(*) from walpost.dead_letter")
            << " letters, the last " << waiting << " retried at the end; lost " << all.lost
            << ", out of order " << all.out_of_order << ", repeats " << all.repeats << "\n";
  EXPECT_GT(all.committed, 3000u);
  EXPECT_EQ(all.lost, 0u);
  EXPECT_EQ(all.foreign, 0u);
  EXPECT_EQ(all.out_of_order, 0u);
  EXPECT_EQ(world.server.value("select count(*) from walpost.parked_key"), "0");
}

}  // namespace
}  // namespace walpost::test
