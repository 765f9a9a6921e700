#include "support/walpost_process.h"

#include <stdexcept>

namespace walpost::test {
namespace {

std::vector<std::string> command_line(const std::string& command, const WalpostOptions& options) {
  std::vector<std::string> line{WALPOST_BINARY, command};
  if (!options.postgres.empty()) line.insert(line.end(), {"--postgres", options.postgres});
  if (!options.kafka.empty()) line.insert(line.end(), {"--kafka", options.kafka});
  for (const std::string& assignment : options.set) line.insert(line.end(), {"--set", assignment});
  line.insert(line.end(), options.extra.begin(), options.extra.end());
  return line;
}

}  // namespace

Walpost::Walpost(const WalpostOptions& options)
    : process_(std::make_unique<Process>(command_line("run", options), options.process)) {}

void Walpost::wait_until_streaming(Deadline deadline) {
  if (!process_->wait_for_line("streaming from slot", deadline))
    throw std::runtime_error("walpost isn't streaming: " + log());
}

ExitStatus Walpost::stop(Deadline deadline) {
  process_->signal(SIGTERM);
  return wait(deadline);
}

ExitStatus Walpost::wait(Deadline deadline) {
  const auto status = process_->wait(deadline);
  if (!status) throw std::runtime_error("walpost didn't end: " + log());
  return *status;
}

void Walpost::kill() {
  process_->signal(SIGKILL);
  process_->wait(Deadline::in(milliseconds(10000)));
}

std::string Walpost::log() const {
  return process_->standard_output() + process_->standard_error();
}

std::size_t Walpost::times_logged(const std::string& what) const {
  const std::string text = log();
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Finished Walpost::command(const std::string& name, const WalpostOptions& options,
                          Deadline deadline) {
  return run_to_end(command_line(name, options), deadline, options.process);
}

}  // namespace walpost::test
