#include "golden.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace golden {

namespace {

// Of its own rather than Lsn::parse: the expected values must not come from what is tested.
pgoutput::Lsn to_lsn(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {std::stoull(text.substr(0, slash), nullptr, 16) << 32 |
          std::stoull(text.substr(slash + 1), nullptr, 16)};
}

std::string from_hex(const std::string& digits) {
  if (digits.size() % 2 != 0) throw std::runtime_error("an odd number of digits");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

WalRecord read_record(std::istream& line) {
  WalRecord record;
  std::uint32_t xid = 0;
  std::string start;
  std::string end;
  if (!(line >> record.kind >> xid >> start >> end >> record.at.micros)) {
    throw std::runtime_error("not a wal line");
  }
  record.xid = pgoutput::Xid{xid};
  record.start = to_lsn(start);
  record.end = to_lsn(end);
  return record;
}

class Reader {
 public:
  explicit Reader(pgoutput::StreamContext context) : context_(context) {}

  void line(const std::string& text) {
    std::istringstream in(text);
    std::string key;
    std::string first;
    in >> key;
    if (key.empty() || key.front() == '#') return;
    if (key == "wal") {
      current().wal.push_back(read_record(in));
      return;
    }
    if (!(in >> first)) throw std::runtime_error("a line of one word");
    if (key == "scenario") {
      scenario_ = &file_[first];
    } else if (key == "fact") {
      in >> current().facts[first];
    } else {
      add(key, from_hex(first));
    }
  }

  File take() { return std::move(file_); }

 private:
  Scenario& current() {
    if (scenario_ == nullptr) throw std::runtime_error("before the first scenario");
    return *scenario_;
  }

  void add(const std::string& letter, std::string bytes) {
    if (bytes.substr(0, 1) != letter) throw std::runtime_error("not the bytes of this letter");
    if (letter == "E") context_.in_stream = false;
    current().captured.push_back({std::move(bytes), context_});
    if (letter == "S") context_.in_stream = true;
  }

  File file_;
  Scenario* scenario_ = nullptr;
  pgoutput::StreamContext context_;
};

File load(const std::string& name, pgoutput::StreamContext context = {}) {
  const std::string path = PGOUTPUT_GOLDEN_DIR "/" + name;
  std::ifstream in(path);
  Reader reader(context);
  std::string text;
  int number = 0;
  try {
    while (std::getline(in, text)) {
      ++number;
      reader.line(text);
    }
    if (number == 0) throw std::runtime_error("no lines");
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
  }
  return reader.take();
}

}  // namespace

std::string Scenario::letters() const {
  std::string letters;
  for (const Captured& one : captured) letters += one.bytes.front();
  return letters;
}

const WalRecord& Scenario::record(std::string_view kind) const {
  for (const WalRecord& one : wal) {
    if (one.kind == kind) return one;
  }
  throw std::runtime_error("no wal record " + std::string(kind));
}

pgoutput::Lsn Scenario::lsn_fact(const std::string& name) const {
  return to_lsn(facts.at(name));
}

pgoutput::Oid Scenario::oid_fact(const std::string& name) const {
  return pgoutput::Oid{static_cast<std::uint32_t>(std::stoul(facts.at(name)))};
}

pgoutput::Timestamp Scenario::time_fact(const std::string& name) const {
  return {std::stoll(facts.at(name))};
}

const File& messages() {
  static const File file = load("messages.golden");
  return file;
}

const File& parallel() {
  static const File file = load("parallel.golden", {.parallel_abort = true});
  return file;
}

const File& frames() {
  static const File file = load("frames.golden");
  return file;
}

}  // namespace golden
