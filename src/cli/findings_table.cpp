#include "findings_table.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace walpost::cli {
namespace {

std::string_view name(relay::Finding::Level level) {
  switch (level) {
    case relay::Finding::Level::pass:
      return "pass";
    case relay::Finding::Level::warn:
      return "warn";
    case relay::Finding::Level::fail:
      return "fail";
  }
  return {};
}

}  // namespace

std::string findings_table(const std::vector<relay::Finding>& findings) {
  std::size_t width = 0;
  for (const relay::Finding& finding : findings) {
    width = std::max(width, finding.subject.size());
  }
  std::string table;
  for (const relay::Finding& finding : findings) {
    table += name(finding.level);
    table += "  " + finding.subject + std::string(width - finding.subject.size() + 2, ' ');
    table += finding.what + "\n";
    std::istringstream mend(finding.mend);
    for (std::string line; std::getline(mend, line);) {
      table += "      " + line + "\n";
    }
  }
  return table;
}

}  // namespace walpost::cli
