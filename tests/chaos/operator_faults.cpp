#include <stdexcept>

#include "chaos/chaos_world.h"
#include "support/kafka_admin.h"

namespace walpost::test {
namespace {

constexpr std::size_t default_message_bytes = 1048588;
constexpr const char* create_publication =
    "create publication walpost for table outbox, outbox_doomed with (publish = 'insert')";
constexpr int unfinished = 1;
constexpr int refused = 3;
constexpr int stopped_at_event = 4;

Deadline soon() {
  return Deadline::in(milliseconds(30000));
}

void recreate_topic(ChaosWorld& world) {
  world.checker.forget_doomed();
  world.delete_doomed_topic();
  world.chance.let_pass(0, 1500);
  world.make_doomed_topic();
  world.server().exec(CommitOrder::mark(world.new_mark(CommitOrder::remade_mark)));
  world.checker.read_doomed();
}

std::size_t denials(ChaosWorld& world) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < world.instances.size(); ++i) {
    const std::string log = world.instances.at(i).log();
    for (auto at = log.find("uthoriz"); at != std::string::npos; at = log.find("uthoriz", at + 1))
      ++count;
  }
  return count;
}

// Until walpost has met it; whether it ends for that is its own choice.
void deny(ChaosWorld& world, Right right) {
  world.instances.excuse(refused, "kafka-acls.sh");
  const std::size_t before = denials(world);
  const std::string bootstrap = world.cluster.bootstrap();
  grant(bootstrap, world.topic(), right, soon());
  const bool met = eventually([&] { return denials(world) > before; }, soon());
  revoke(bootstrap, world.topic(), right, soon());
  if (!met) throw std::runtime_error("nobody is denied anything\n" + world.instances.logs());
}

void deny_writing(ChaosWorld& world) {
  deny(world, Right::write_denied);
}

void deny_all(ChaosWorld& world) {
  deny(world, Right::all_denied);
}

// Who is stopped between two sessions, right after one has failed, says what it leaves behind.
void excuse_unfinished(ChaosWorld& world) {
  world.instances.excuse(unfinished, "stopped before");
}

// Both instances are started again: one that read the limit while it was low keeps its batches so
// small for as long as it lives.
void raise_limit(ChaosWorld& world) {
  excuse_unfinished(world);
  world.set_max_message_bytes(default_message_bytes);
  world.instances.stop_all();
}

void shrink_below_a_record(ChaosWorld& world) {
  world.instances.excuse(stopped_at_event, "max.message.bytes");
  world.set_max_message_bytes(200);
  world.instances.await_excused_end(soon());
  raise_limit(world);
}

void shrink_below_a_batch(ChaosWorld& world) {
  world.set_max_message_bytes(2000);
  world.chance.let_pass(300, 1500);
  raise_limit(world);
}

// As walpost advises: no transaction is open on either side of the change. One that waits for the
// other table may have to give way to the application.
void alter_publication(ChaosWorld& world, const std::string& statement, const std::string& mark) {
  const auto altered = [&] {
    try {
      Session(world.server().conninfo())
          .exec("begin; lock table outbox, outbox_doomed in share row exclusive mode; " +
                statement + "; " + CommitOrder::mark(mark) + "; commit");
      return true;
    } catch (const SqlError& error) {
      if (error.sqlstate != "40P01") throw;
      return false;
    }
  };
  if (!eventually(altered, soon())) throw std::runtime_error("can't: " + statement);
}

void drop_tables_and_add_them_again(ChaosWorld& world) {
  world.instances.excuse(refused, "publication walpost");
  alter_publication(world, "alter publication walpost drop table outbox, outbox_doomed",
                    world.new_mark(CommitOrder::unpublished_mark));
  world.chance.let_pass(200, 1000);
  if (world.chance.one_in(2)) {
    world.server().exec(
        "select pg_terminate_backend(active_pid) from pg_replication_slots where active");
    world.instances.await_excused_end(soon());
  }
  alter_publication(world, "alter publication walpost add table outbox, outbox_doomed",
                    world.new_mark(CommitOrder::published_mark));
}

void renew_slot(ChaosWorld& world) {
  world.instances.stop_all();
  const auto dropped = [&] {
    try {
      world.server().exec("select pg_drop_replication_slot('walpost')");
      return true;
    } catch (const SqlError& error) {
      if (error.sqlstate != "55006") throw;  // the server hasn't noticed yet that walpost is gone
      return false;
    }
  };
  const Writers::Hold away(world.writers);
  if (!eventually(dropped, soon())) throw std::runtime_error("the slot can't be dropped");
  world.init();
  world.server().exec(CommitOrder::mark(world.new_mark(CommitOrder::published_mark)));
}

// Rows follow for which there is no publication: walpost refuses. With the publication made again
// it publishes what was committed before the drop, and refuses at the rows after it, which no slot
// can give any more; the mend is then the one that the error names.
void drop_publication(ChaosWorld& world) {
  world.instances.excuse(refused, "publication walpost");
  world.instances.excuse(refused, "publication \"walpost\" does not exist");
  const std::string dropped = world.new_mark(CommitOrder::unpublished_mark);
  alter_publication(world, "drop publication walpost", dropped);
  world.instances.await_excused_end(soon());
  excuse_unfinished(world);
  world.instances.stop_all();
  world.server().exec(create_publication);
  world.instances.start_all();
  world.instances.await_excused_end(soon());
  if (!world.checker.all_seen_before(dropped, soon()))
    throw std::runtime_error("what was committed before the publication was dropped is missing\n" +
                             world.instances.logs());
  renew_slot(world);
  world.instances.start_all();
}

// Who looks at it at that very moment may find none, and refuses.
void replace_publication(ChaosWorld& world) {
  world.instances.excuse(refused, "publication walpost");
  const Writers::Hold away(world.writers);
  world.server().exec(std::string("begin; drop publication walpost; ") + create_publication +
                      "; commit");
}

}  // namespace

std::vector<Fault> operator_faults() {
  return {{"topic deleted and made again", recreate_topic},
          {"right to write denied and granted", deny_writing},
          {"all rights on the topic denied and granted", deny_all},
          {"max.message.bytes shrunk below a record", shrink_below_a_record},
          {"max.message.bytes shrunk below a batch", shrink_below_a_batch},
          {"tables dropped from the publication and added again", drop_tables_and_add_them_again},
          {"publication dropped, slot renewed", drop_publication},
          {"publication replaced between two transactions", replace_publication}};
}

}  // namespace walpost::test
