#include "position_notes.h"

#include "position_record.h"

namespace walpost::kafka {

void PositionNotes::open(const relay::StreamStart& start) {
  key_ = position_key(start.identity.identifier, producer_.options().position_slot);
  timeline_ = start.identity.timeline;
  durable_ = noted_ = start.start;
  awaited_ = producer_.notes_delivered();
  sent_at_ = {};
}

pgoutput::Lsn PositionNotes::secure(pgoutput::Lsn acknowledged) {
  if (producer_.options().position_slot.empty()) return acknowledged;
  if (producer_.notes_delivered() == awaited_) durable_ = noted_;
  if (acknowledged > durable_ && noted_ == durable_) note(acknowledged);
  return durable_;
}

void PositionNotes::note(pgoutput::Lsn acknowledged) {
  if (producer_.now() < sent_at_ + spacing) return producer_.wake_by(sent_at_ + spacing);
  if (!producer_.note(key_, encode({acknowledged, std::nullopt, timeline_}))) return;
  noted_ = acknowledged;
  sent_at_ = producer_.now();
  awaited_ = producer_.notes_delivered() + 1;
}

}  // namespace walpost::kafka
