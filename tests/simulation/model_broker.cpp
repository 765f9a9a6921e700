#include "simulation/model_broker.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

namespace walpost::simulation {
namespace {

RowNumber row_of(const outbox::Record& record) {
  for (const outbox::Header& header : record.headers)
    if (header.name == "messageId") return std::stoul(std::string(header.value.value()));
  throw std::logic_error("a record without messageId");
}

constexpr std::size_t largest_batch = 4;

}  // namespace

ModelBroker::ModelBroker(World& world) : world_(world), max_batches_(1 + world.below(5)) {}

void ModelBroker::open(const relay::StreamStart& /*start*/) {
  ++world_.producer;
  partitions_.assign(static_cast<std::size_t>(world_.partitions), {});
  slow_start_.emplace();
  first_lane_ = slow_start_->add(partitions_.size());
  in_flight_ = 0;
  failed_ = false;
  ready_.clear();
}

relay::Accepted ModelBroker::publish(const outbox::Record& record, relay::Token token) {
  if (failed_ || world_.fault(world_.faults.queue_full)) return relay::Accepted::full;
  const RowNumber row = row_of(record);
  if (world_.rows[row].refused) {
    refusal_ = "too large";
    return relay::Accepted::refused;
  }
  const auto number = static_cast<std::size_t>(world_.partition_of(world_.rows[row].key));
  ++in_flight_;
  if (!slow_start_->may_send(lane(number), world_.now)) {
    slow_start_->hold(lane(number),
                      kafka::HeldRecord(record, token, static_cast<std::int32_t>(number)));
    return relay::Accepted::yes;
  }
  slow_start_->sent(lane(number));
  partitions_[number].queue.push_back({row, token});
  return relay::Accepted::yes;
}

void ModelBroker::release_held() {
  while (!failed_ && slow_start_->has_released()) {
    const auto [lane, record] = slow_start_->released();
    std::vector<outbox::Header> headers;
    const RowNumber row = row_of(record.view(headers));
    slow_start_->sent(lane);
    partitions_[static_cast<std::size_t>(record.partition)].queue.push_back({row, record.token});
    slow_start_->pop();
  }
}

void ModelBroker::poll(relay::Reports& reports) {
  for (const relay::Token token : ready_.delivered) reports.delivered.push_back(token);
  for (auto& failure : ready_.failed) reports.failed.push_back(std::move(failure));
  ready_.clear();
}

void ModelBroker::step() {
  if (world_.now < stalled_until_) return;
  if (world_.fault(world_.faults.broker_stall)) {
    ++world_.fault_count;
    stalled_until_ = world_.now + milliseconds(1 + world_.below(8000));
    world_.trace("brokers stall");
    return;
  }
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    // From a random one on, so that reports come out of order among partitions.
    const std::size_t number = (i + world_.below(partitions_.size())) % partitions_.size();
    Partition& partition = partitions_[number];
    for (std::size_t turn = world_.below(4); turn > 0; --turn) {
      send_batch(partition);
      serve_batch(partition);
    }
    if (world_.chance(0.7)) report_batches(partition, number);
  }
  if (slow_start_) release_held();
  if (!failed_ && in_flight_ > 0 && world_.fault(world_.faults.producer_fatal)) {
    ++world_.fault_count;
    ready_.failed.push_back({Failure::Kind::fatal, std::nullopt, "", "", "producer is fatal"});
    turn_fatal();
  }
}

void ModelBroker::send_batch(Partition& partition) {
  if (failed_ || partition.queue.empty() || partition.batches.size() >= max_batches_) return;
  Batch batch;
  const std::size_t count = std::min(partition.queue.size(), 1 + world_.below(largest_batch));
  batch.items.assign(partition.queue.begin(),
                     partition.queue.begin() + static_cast<std::ptrdiff_t>(count));
  partition.queue.erase(partition.queue.begin(),
                        partition.queue.begin() + static_cast<std::ptrdiff_t>(count));
  partition.batches.push_back(std::move(batch));
}

// The broker takes the batches of a partition in order.
void ModelBroker::serve_batch(Partition& partition) {
  const auto batch = std::find_if(partition.batches.begin(), partition.batches.end(),
                                  [](const Batch& one) { return one.fate == Fate::sent; });
  if (batch == partition.batches.end()) return;
  const bool rejected =
      std::any_of(batch->items.begin(), batch->items.end(),
                  [this](const Item& item) { return world_.rows[item.row].rejected; });
  if (partition.gap && partition.knows_producer) {
    batch->fate = Fate::out_of_sequence;
  } else if (rejected) {
    batch->fate = Fate::rejected;
    partition.gap = true;
  } else {
    for (const Item& item : batch->items) world_.append(item.row);
    partition.knows_producer = true;
    partition.gap = false;
    batch->fate = Fate::appended;
  }
}

void ModelBroker::report_batches(Partition& partition, std::size_t number) {
  while (!partition.batches.empty() && partition.batches.front().fate != Fate::sent) {
    // Lost on its way: the client sends the batch again and the broker recognises it.
    if (world_.fault(world_.faults.acknowledgement_lost)) return;
    const Batch batch = std::move(partition.batches.front());
    partition.batches.pop_front();
    std::optional<Failure::Kind> failure;
    if (batch.fate == Fate::rejected) failure = Failure::Kind::permanent;
    if (batch.fate == Fate::out_of_sequence) failure = Failure::Kind::fatal;
    // In the log, and reported failed all the same.
    if (batch.fate == Fate::appended && world_.fault(world_.faults.batch_retryable))
      failure = Failure::Kind::retryable;
    for (const Item& item : batch.items) report(item, failure, number);
    if (failure && !failed_) {
      ++world_.fault_count;
      turn_fatal();
    }
  }
}

void ModelBroker::report(const Item& item, std::optional<Failure::Kind> failure,
                         std::size_t partition) {
  --in_flight_;
  if (!failure) {
    slow_start_->delivered(lane(partition), world_.now);
    ready_.delivered.push_back(item.token);
    return;
  }
  slow_start_->failed(lane(partition));
  if (world_.tracing()) world_.trace(fmt::format("row {} is reported failed", item.row));
  ready_.failed.push_back({*failure, item.token, "outbox", std::to_string(item.row), "rejected"});
}

// Gapless: what was not sent is purged; what was sent goes on by itself.
void ModelBroker::turn_fatal() {
  failed_ = true;
  for (std::size_t number = 0; number < partitions_.size(); ++number) {
    for (const Item& item : partitions_[number].queue) report(item, Failure::Kind::fatal, number);
    partitions_[number].queue.clear();
  }
}

// Requests on the wire reach the broker or not, in order.
void ModelBroker::discard() noexcept {
  for (Partition& partition : partitions_) {
    while (!partition.batches.empty() && !world_.chance(0.5)) {
      serve_batch(partition);
      while (!partition.batches.empty() && partition.batches.front().fate != Fate::sent)
        partition.batches.pop_front();
    }
    partition = {};
  }
  slow_start_.reset();
  in_flight_ = 0;
  ready_.clear();
}

}  // namespace walpost::simulation
