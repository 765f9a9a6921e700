#include "walpost/kafka/producer_sink.h"

#include <utility>

#include "position_notes.h"
#include "producer_session.h"

namespace walpost::kafka {

struct ProducerSink::Impl {
  Impl(Options options, relay::Clock& clock) : session(std::move(options), clock), notes(session) {}
  ProducerSession session;
  PositionNotes notes;
};

ProducerSink::ProducerSink(Options options, relay::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
ProducerSink::~ProducerSink() = default;

void ProducerSink::open(const relay::StreamStart& start) {
  impl_->notes.open(start);
  impl_->session.open();
}

relay::Accepted ProducerSink::publish(const outbox::Record& record, relay::Token token) {
  return impl_->session.publish(record, token);
}

const std::string& ProducerSink::refusal() const {
  return impl_->session.refusal();
}

void ProducerSink::poll(relay::Reports& reports) {
  impl_->session.poll(reports);
}

pgoutput::Lsn ProducerSink::secure(pgoutput::Lsn acknowledged, pgoutput::Lsn /*sealed*/) {
  return impl_->notes.secure(acknowledged);
}

int ProducerSink::wake_fd() const {
  return impl_->session.wake_fd();
}

std::size_t ProducerSink::in_flight() const {
  return impl_->session.in_flight();
}

std::size_t ProducerSink::in_flight_bytes() const {
  return impl_->session.in_flight_bytes();
}

void ProducerSink::discard() noexcept {
  impl_->session.close();
}

}  // namespace walpost::kafka
