#include "position_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "walpost/relay/failure.h"

namespace walpost::postgres {

namespace {

using relay::FailureKind;
using relay::SessionFailure;
using relay::Side;

constexpr std::string_view mark = "walpost-position-1";
// A slot's name has at most 63 bytes, the numbers 20 each, the LSN 17: this holds them all, and a
// line never crosses a disk's sector.
constexpr std::size_t line_bytes = 256;
constexpr std::size_t file_bytes = 2 * line_bytes;

struct Line {
  std::uint64_t sequence = 0;
  StoredPosition position;
};

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// FNV-1a: finds a line that was written in part, which is all that is asked of it.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string write_line(const Line& line) {
  const StoredPosition& position = line.position;
  std::string text = fmt::format("{} {} {} {} {} {} ", mark, line.sequence, position.slot,
                                 position.confirmed.to_string(), position.identity.identifier,
                                 position.identity.timeline);
  text += fmt::format("{:016x}", checksum(text));
  text.resize(line_bytes - 1, ' ');
  return text + '\n';
}

std::optional<Line> read_line(const std::string& text) {
  std::istringstream in(text);
  std::string its_mark;
  std::string lsn;
  std::string sum;
  Line line;
  if (!(in >> its_mark >> line.sequence >> line.position.slot >> lsn >>
        line.position.identity.identifier >> line.position.identity.timeline >> sum))
    return std::nullopt;
  const auto confirmed = pgoutput::Lsn::parse(lsn);
  if (its_mark != mark || line.sequence == 0 || !confirmed) return std::nullopt;
  line.position.confirmed = *confirmed;
  // Written anew it must be the same to the last byte, the checksum included.
  if (write_line(line) != text) return std::nullopt;
  return line;
}

std::optional<Line> newest_line(const std::string& bytes) {
  std::optional<Line> newest;
  for (std::size_t at = 0; at + line_bytes <= bytes.size(); at += line_bytes) {
    const auto line = read_line(bytes.substr(at, line_bytes));
    if (line && (!newest || line->sequence > newest->sequence)) newest = line;
  }
  return newest;
}

std::string read_all(int fd) {
  std::array<char, file_bytes> bytes{};
  const ssize_t size = ::pread(fd, bytes.data(), bytes.size(), 0);
  return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : std::string();
}

bool flush_folder_of(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  return descriptor.valid() && ::fsync(descriptor.get()) == 0;
}

SessionFailure cant(const std::string& doing, const std::filesystem::path& path, int error) {
  return {FailureKind::transient, Side::walpost,
          fmt::format("the position file {} can't be {}: {}; nothing is confirmed without it",
                      path.string(), doing, std::strerror(error))};
}

}  // namespace

std::optional<StoredPosition> PositionFile::load(const std::string& slot) {
  sequence_ = 0;
  const Descriptor file(path_, O_RDONLY);
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  if (!file.valid())
    throw SessionFailure(
        FailureKind::refused, Side::walpost,
        fmt::format("the position file {} can't be read: {}", path_.string(), std::strerror(errno)),
        "correct the file's permissions, or position: in the configuration");
  const std::string bytes = read_all(file.get());
  // A crash between making it and writing the first line.
  if (bytes.empty()) return std::nullopt;
  const auto newest = newest_line(bytes);
  if (!newest)
    throw SessionFailure(FailureKind::refused, Side::walpost,
                         "the file " + path_.string() + " holds no position",
                         "name another file in position:; or, if it did hold one, delete it to go "
                         "on from where the slot stands");
  if (newest->position.slot != slot)
    throw SessionFailure(FailureKind::refused, Side::walpost,
                         "position file " + path_.string() + " is that of slot " +
                             newest->position.slot + ", not of " + slot,
                         "give every slot a file of its own in position:");
  sequence_ = newest->sequence;
  return newest->position;
}

void PositionFile::save(const StoredPosition& position) {
  const Descriptor file(path_, O_RDWR | O_CREAT);
  if (!file.valid()) throw cant("opened", path_, errno);
  const auto newest = newest_line(read_all(file.get()));
  if ((newest ? newest->sequence : 0) != sequence_)
    throw SessionFailure(FailureKind::transient, Side::walpost,
                         "another instance has written the position file " + path_.string());
  const std::string line = write_line({sequence_ + 1, position});
  const bool second = (sequence_ + 1) % 2 == 0;
  const ssize_t size =
      ::pwrite(file.get(), line.data(), line.size(), second ? off_t{line_bytes} : off_t{0});
  if (size != static_cast<ssize_t>(line.size()))
    throw cant("written", path_, size < 0 ? errno : ENOSPC);
  if (::fdatasync(file.get()) != 0) throw cant("flushed", path_, errno);
  if (sequence_ == 0 && !flush_folder_of(path_)) throw cant("flushed", path_, errno);
  ++sequence_;
}

}  // namespace walpost::postgres
