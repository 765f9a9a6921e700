#include "support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <ostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace walpost::test {
namespace {

constexpr int cannot_start = 127;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(text).str();
}

/// Everything the child needs, made before the fork: between fork and exec nothing may allocate,
/// because another thread of this process may hold the allocator's lock.
struct Launch {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string directory;
  int out = -1;
  int err = -1;
  int signal_at_death = SIGKILL;
  bool change_user = false;
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t parent = 0;
};

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

void set_user(Launch& launch, const std::string& user) {
  if (user.empty()) return;
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) throw std::runtime_error("no such user: " + user);
  launch.change_user = true;
  launch.uid = entry->pw_uid;
  launch.gid = entry->pw_gid;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!additions.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : additions) all.emplace_back(name).append("=").append(value);
  return all;
}

[[noreturn]] void exec_child(const Launch& launch) {
  if (launch.change_user) {
    if (setgroups(1, &launch.gid) != 0 || setgid(launch.gid) != 0 || setuid(launch.uid) != 0)
      _exit(cannot_start);
  }
  // After the change of user, which clears it; and the parent may be gone already.
  prctl(PR_SET_PDEATHSIG, launch.signal_at_death);
  if (getppid() != launch.parent) _exit(cannot_start);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!launch.directory.empty() && chdir(launch.directory.c_str()) != 0) _exit(cannot_start);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(launch.out, STDOUT_FILENO);
  dup2(launch.err, STDERR_FILENO);
  execvpe(launch.argv[0], launch.argv.data(), launch.envp.data());
  const char message[] = "cannot execute the program\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
  _exit(cannot_start);
}

int open_output(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) fail("open " + file.string());
  return fd;
}

std::optional<std::string> matching_line(const std::string& text, std::size_t& position,
                                         const std::regex& pattern) {
  for (;;) {
    const std::size_t end = text.find('\n', position);
    if (end == std::string::npos) return std::nullopt;
    std::string line = text.substr(position, end - position);
    position = end + 1;
    if (std::regex_search(line, pattern)) return line;
  }
}

ExitStatus exit_status(int status) {
  return WIFEXITED(status) ? exited(WEXITSTATUS(status)) : killed_by(WTERMSIG(status));
}

}  // namespace

void PrintTo(const ExitStatus& status, std::ostream* out) {
  if (status.code) *out << "exit code " << *status.code;
  if (status.signal) *out << "killed by signal " << *status.signal;
}

Process::Process(std::vector<std::string> arguments, const ProcessOptions& options) {
  Launch launch;
  launch.arguments = std::move(arguments);
  launch.environment = environment_with(options.environment);
  launch.argv = pointers_to(launch.arguments);
  launch.envp = pointers_to(launch.environment);
  launch.directory = options.working_directory.string();
  launch.signal_at_death = options.signal_at_death;
  launch.parent = getpid();
  set_user(launch, options.user);
  launch.out = open_output(files_.path() / "out");
  launch.err = open_output(files_.path() / "err");
  watch_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  inotify_add_watch(watch_, (files_.path() / "out").c_str(), IN_MODIFY);
  inotify_add_watch(watch_, (files_.path() / "err").c_str(), IN_MODIFY);
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) exec_child(launch);
  close(launch.out);
  close(launch.err);
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) fail("pidfd_open");
}

Process::~Process() {
  signal(SIGKILL);
  reap(true);
  close(pidfd_);
  close(watch_);
}

void Process::reap(bool block) {
  if (status_) return;
  int status = 0;
  if (waitpid(pid_, &status, block ? 0 : WNOHANG) == pid_) status_ = exit_status(status);
}

bool Process::running() {
  reap(false);
  return !status_;
}

void Process::signal(int number) {
  if (running()) kill(pid_, number);
}

std::optional<ExitStatus> Process::wait(Deadline deadline) {
  while (running() && !deadline.passed()) {
    pollfd ended{pidfd_, POLLIN, 0};
    poll(&ended, 1, static_cast<int>(deadline.left().count()));
  }
  return status_;
}

std::string Process::standard_output() const {
  return content_of(files_.path() / "out");
}
std::string Process::standard_error() const {
  return content_of(files_.path() / "err");
}

Process::Mark Process::mark() const {
  return {std::filesystem::file_size(files_.path() / "out"),
          std::filesystem::file_size(files_.path() / "err")};
}

/// Waits until something was written or the process ended; false at the deadline.
bool Process::wait_for_output(Deadline deadline) {
  std::array<pollfd, 2> events{pollfd{watch_, POLLIN, 0}, pollfd{pidfd_, POLLIN, 0}};
  if (poll(events.data(), events.size(), static_cast<int>(deadline.left().count())) <= 0)
    return false;
  std::array<char, 4096> notices{};
  while (read(watch_, notices.data(), notices.size()) > 0) {
  }
  return true;
}

std::optional<std::string> Process::wait_for_line(const std::string& pattern, Deadline deadline,
                                                  Mark from) {
  const std::regex expression(pattern);
  for (;;) {
    const bool was_running = running();  // asked before reading: nothing is written after the end
    if (auto line = matching_line(standard_error(), from.err, expression)) return line;
    if (auto line = matching_line(standard_output(), from.out, expression)) return line;
    if (!was_running || !wait_for_output(deadline)) return std::nullopt;
  }
}

long Process::peak_resident_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  throw std::runtime_error("no VmHWM: has process " + std::to_string(pid_) + " ended?");
}

Finished run_to_end(std::vector<std::string> arguments, Deadline deadline,
                    const ProcessOptions& options) {
  const std::string program = arguments.at(0);
  Process process(std::move(arguments), options);
  const auto status = process.wait(deadline);
  if (!status)
    throw std::runtime_error(program + " didn't end in time: " + process.standard_error());
  return {*status, process.standard_output(), process.standard_error()};
}

}  // namespace walpost::test
