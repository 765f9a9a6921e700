#include "chaos/instances.h"

#include <csignal>
#include <optional>
#include <stdexcept>
#include <utility>

namespace walpost::test {
namespace {

// The last lines of a log, which are about the last rounds.
std::string tail_of(const std::string& log) {
  constexpr std::size_t most = 6000;
  return log.size() <= most ? log : log.substr(log.size() - most);
}

// When the stream began that is still open as far as the log tells: nothing that ends one was
// logged since, be it another instance that holds the slot, a lost connection or a failed producer.
std::optional<std::string> streams_since(const std::string& log) {
  const auto began = log.rfind("streaming from slot");
  if (began == std::string::npos) return std::nullopt;
  for (const char* end : {"standing by: ", "warning postgres: ", "warning kafka: "})
    if (log.find(end, began) != std::string::npos) return std::nullopt;
  const auto line = log.rfind('\n', began) + 1;  // npos + 1 is the first line
  return log.substr(line, log.find(' ', line) - line);
}

}  // namespace

Instances::Instances(WalpostOptions options, std::size_t count) : options_(std::move(options)) {
  for (std::size_t i = 0; i < count; ++i) all_.push_back(std::make_unique<Walpost>(options_));
}

// Of two, one that slept through a takeover doesn't know yet: the later one holds it.
Walpost& Instances::holder() {
  Walpost* found = nullptr;
  std::string latest;
  const auto look = [&] {
    for (auto& instance : all_) {
      const auto since = streams_since(instance->log());
      if (!since || *since < latest) continue;
      latest = *since;
      found = instance.get();
    }
    return found != nullptr;
  };
  if (!eventually(look, Deadline::in(milliseconds(30000))))
    throw std::runtime_error("no instance holds the slot\n" + logs());
  return *found;
}

// Whether it has ended, and as it may. Throws for any other end.
bool Instances::ended_excused(Walpost& instance) const {
  const auto status = instance.process().wait(Deadline::in(milliseconds(0)));
  if (!status) return false;
  if (status == exited(0) || status == killed_by(SIGKILL)) return true;
  const std::string log = instance.log();
  for (const Excuse& excuse : excuses_)
    if (status == exited(excuse.exit_code) && log.find(excuse.words) != std::string::npos)
      return true;
  throw std::runtime_error("an instance ended with " +
                           std::to_string(status->code.value_or(-status->signal.value_or(0))) +
                           ", which nothing excuses\n" + tail_of(log));
}

void Instances::revive() {
  for (auto& instance : all_)
    if (ended_excused(*instance)) instance = std::make_unique<Walpost>(options_);
}

void Instances::excuse(int exit_code, const std::string& words) {
  excuses_.push_back({exit_code, words});
}

void Instances::await_excused_end(Deadline deadline) {
  const bool ended = eventually(
      [this] {
        for (auto& instance : all_)
          if (ended_excused(*instance)) return true;
        return false;
      },
      deadline);
  if (!ended) throw std::runtime_error("no instance refuses to go on\n" + logs());
}

void Instances::stop_all() {
  for (auto& instance : all_) instance->process().signal(SIGTERM);
  for (auto& instance : all_) {
    static_cast<void>(instance->wait());
    static_cast<void>(ended_excused(*instance));
  }
}

void Instances::kill_all() {
  for (auto& instance : all_) instance->kill();
}

void Instances::start_all() {
  for (auto& instance : all_) instance = std::make_unique<Walpost>(options_);
}

std::string Instances::logs() const {
  std::string all;
  for (const auto& instance : all_)
    all += "---- an instance's log, its end\n" + tail_of(instance->log());
  return all;
}

}  // namespace walpost::test
