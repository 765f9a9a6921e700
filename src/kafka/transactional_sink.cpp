#include "walpost/kafka/transactional_sink.h"

#include <utility>

#include "transactional_session.h"

namespace walpost::kafka {

struct TransactionalSink::Impl {
  Impl(Options options, relay::Clock& clock) : session(std::move(options), clock) {}
  TransactionalSession session;
};

TransactionalSink::TransactionalSink(Options options, relay::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
TransactionalSink::~TransactionalSink() = default;

void TransactionalSink::open(const relay::StreamStart& start) {
  impl_->session.open(start);
}

relay::Accepted TransactionalSink::publish(const outbox::Record& record, relay::Token token) {
  return impl_->session.publish(record, token);
}

const std::string& TransactionalSink::refusal() const {
  return impl_->session.refusal();
}

void TransactionalSink::poll(relay::Reports& reports) {
  impl_->session.poll(reports);
}

pgoutput::Lsn TransactionalSink::secure(pgoutput::Lsn acknowledged, pgoutput::Lsn sealed) {
  return impl_->session.secure(acknowledged, sealed);
}

int TransactionalSink::wake_fd() const {
  return impl_->session.wake_fd();
}

std::size_t TransactionalSink::in_flight() const {
  return impl_->session.in_flight();
}

std::size_t TransactionalSink::in_flight_bytes() const {
  return impl_->session.in_flight_bytes();
}

void TransactionalSink::discard() noexcept {
  impl_->session.close();
}

}  // namespace walpost::kafka
