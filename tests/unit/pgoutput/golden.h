#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pgoutput/decode.h"

/// Bytes captured from real servers together with what those servers say of them by other means;
/// how they were made is in tests/data/pgoutput/capture.sh.
namespace golden {

/// One captured message or frame.
struct Captured {
  std::string bytes;
  pgoutput::StreamContext context;  ///< where in a stream it stood
};

/// A record of the write-ahead log itself, as pg_walinspect shows it.
struct WalRecord {
  std::string kind;
  pgoutput::Xid xid{};
  pgoutput::Lsn start;
  pgoutput::Lsn end;
  pgoutput::Timestamp at;
};

struct Scenario {
  std::map<std::string, std::string> facts;
  std::vector<WalRecord> wal;
  std::vector<Captured> captured;

  [[nodiscard]] std::string letters() const;  ///< the captured type bytes, in order
  [[nodiscard]] const WalRecord& record(std::string_view kind) const;
  [[nodiscard]] pgoutput::Lsn lsn_fact(const std::string& name) const;
  [[nodiscard]] pgoutput::Oid oid_fact(const std::string& name) const;
  [[nodiscard]] pgoutput::Timestamp time_fact(const std::string& name) const;
};

/// One file, read once; what it returns lives until the process ends. Throws std::runtime_error
/// with the file and line on anything it does not understand.
using File = std::map<std::string, Scenario>;
const File& messages();  ///< protocol versions 1 to 3, PostgreSQL 15
const File& parallel();  ///< protocol version 4 with streaming 'parallel', PostgreSQL 16
const File& frames();    ///< CopyData payloads, PostgreSQL 15

}  // namespace golden
