#include "preflight.h"

#include <spdlog/fmt/fmt.h>
#include <algorithm>

namespace walpost::postgres {

using relay::Finding;

void remember(const StoredPosition& found, std::string place, std::string forget, Memory& memory) {
  memory.stored_in = std::move(place);
  memory.forget = std::move(forget);
  memory.identity = found.identity;
  memory.confirmed = std::max(memory.confirmed, found.confirmed);
  memory.lease_was_elsewhere = false;  // whoever had it has left its position there
}

void remember(const std::optional<StoredPosition>& found, const std::filesystem::path& file,
              Memory& memory) {
  if (found) remember(*found, file.string(), "delete " + file.string(), memory);
}

Findings preflight(const Catalogue& catalogue, const Memory& memory, const Options& options,
                   const Expectations& expectations) {
  Findings findings;
  check_server(catalogue.server, memory, findings);
  check_slot(catalogue, memory, options, findings);
  check_publication(catalogue.publication, options, expectations, findings);
  return findings;
}

std::optional<relay::SessionFailure> refusal(const Findings& findings) {
  Findings failing;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(failing),
               [](const Finding& finding) { return finding.level == Finding::Level::fail; });
  if (failing.empty()) return std::nullopt;
  std::string what;
  std::string mend;
  for (std::size_t i = 0; i < failing.size(); ++i) {
    const std::string mark = failing.size() == 1 ? "" : fmt::format("({}) ", i + 1);
    const std::string_view gap = i == 0 ? "" : "; ";
    what += fmt::format("{}{}{}: {}", gap, mark, failing[i].subject, failing[i].what);
    mend += fmt::format("{}{}{}", gap, mark, failing[i].mend);
  }
  return relay::SessionFailure(relay::FailureKind::refused, relay::Side::postgres, what, mend);
}

}  // namespace walpost::postgres
