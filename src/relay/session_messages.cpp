#include <string>
#include <variant>

#include "walpost/relay/session.h"

// What each message of the stream means for the session.
namespace walpost::relay {
namespace {

constexpr std::uint8_t no_table = 255;  // never asked for: the record counts as delivered at once

}  // namespace

void Session::on(const pgoutput::Keepalive& keepalive) {
  tracker_.keepalive(keepalive.wal_end);
  if (!keepalive.reply_requested) return;
  status_.reply_requested();
  shutdown_.reply_requested(clock_.now(), keepalive.wal_end);
}

void Session::on(const pgoutput::XLogData& data) {
  const auto decoded = pgoutput::decode(data.payload);
  if (const auto* error = std::get_if<pgoutput::DecodeError>(&decoded))
    throw outbox::ProtocolViolation(
        "undecodable pgoutput message after " + tracker_.received().to_string() + ": " +
        std::string(error->what) + " at byte " + std::to_string(error->offset));
  struct Visitor {
    Session& session;
    void operator()(const pgoutput::Begin& m) const { session.on(m); }
    void operator()(const pgoutput::Commit& m) const { session.on(m); }
    void operator()(const pgoutput::Relation& m) const { session.on(m); }
    void operator()(const pgoutput::Type& m) const { session.on(m); }
    void operator()(const pgoutput::Insert& m) const { session.on(m); }
    // Not events: an outbox row is an INSERT. Preflight warns of a publication that sends these.
    void operator()(const pgoutput::Origin&) const {}
    void operator()(const pgoutput::Update&) const {}
    void operator()(const pgoutput::Delete&) const {}
    void operator()(const pgoutput::Truncate&) const {}
    void operator()(const pgoutput::LogicalMessage&) const {}
    // Never asked for (R7): streaming and two_phase are off.
    void operator()(const pgoutput::StreamStart&) const { unasked(); }
    void operator()(const pgoutput::StreamStop&) const { unasked(); }
    void operator()(const pgoutput::StreamCommit&) const { unasked(); }
    void operator()(const pgoutput::StreamAbort&) const { unasked(); }
    void operator()(const pgoutput::BeginPrepare&) const { unasked(); }
    void operator()(const pgoutput::Prepare&) const { unasked(); }
    void operator()(const pgoutput::StreamPrepare&) const { unasked(); }
    void operator()(const pgoutput::CommitPrepared&) const { unasked(); }
    void operator()(const pgoutput::RollbackPrepared&) const { unasked(); }
    [[noreturn]] static void unasked() {
      throw outbox::ProtocolViolation(
          "the server streams uncommitted data, which was not asked for");
    }
  };
  std::visit(Visitor{*this}, std::get<pgoutput::Message>(decoded));
}

void Session::on(const pgoutput::Begin& begin) {
  if (tracker_.in_transaction())
    throw outbox::ProtocolViolation("a transaction begins inside another at " +
                                    begin.final_lsn.to_string());
  tracker_.begin(begin.final_lsn, begin.committed_at);
  position_ = {begin.final_lsn, 0, begin.committed_at};
}

void Session::on(const pgoutput::Commit& commit) {
  if (!tracker_.in_transaction() || commit.commit_lsn != position_.commit_lsn)
    throw outbox::ProtocolViolation("the commit at " + commit.commit_lsn.to_string() +
                                    " does not close the transaction that began");
  if (commit.end_lsn <= commit.commit_lsn)
    throw outbox::ProtocolViolation("the commit at " + commit.commit_lsn.to_string() +
                                    " ends before it starts");
  if (tracker_.open_records() > 0) ++totals_.transactions;
  tracker_.commit(commit.end_lsn);
}

void Session::on(const pgoutput::Relation& relation) {
  mapper_.learn(relation);
}

void Session::on(const pgoutput::Type& type) {
  mapper_.learn(type);
}

void Session::on(const pgoutput::Insert& insert) {
  if (!tracker_.in_transaction()) throw outbox::ProtocolViolation("a row outside a transaction");
  position_.ordinal = tracker_.open_records();
  if (!poison_.is_quiet()) {
    poison_.reach(position_.commit_lsn);
    if (poison_.is_kept(position_)) return tracker_.delivered(tracker_.add_record(no_table));
  }
  const auto mapped = mapper_.map(insert, position_);
  if (const auto* poison = std::get_if<outbox::Poison>(&mapped)) {
    const outbox::Event remains = mapper_.remains(insert, position_);
    const Token token = tracker_.add_record(remains.table->index());
    pending_ = Pending{remains, token, std::nullopt, poison->what};
    return serve_pending();
  }
  const auto& event = std::get<outbox::Event>(mapped);
  const auto routed = router_.route(event);
  const Token token = tracker_.add_record(event.table->index());
  if (const auto* poison = std::get_if<outbox::Poison>(&routed)) {
    pending_ = Pending{event, token, std::nullopt, poison->what};
    return serve_pending();
  }
  const auto& record = std::get<outbox::Record>(routed);
  if (poison_.is_quiet() && sink_.publish(record, token) == Accepted::yes) return;
  pending_ = Pending{event, token, record, {}};
  serve_pending();
}

}  // namespace walpost::relay
