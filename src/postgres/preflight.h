#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catalogue.h"
#include "position_file.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/options.h"
#include "walpost/relay/failure.h"
#include "walpost/relay/finding.h"

namespace walpost::postgres {

/// What is known of earlier sessions: this process's own, and what a position file holds.
struct Memory {
  std::optional<SystemIdentity> identity;
  pgoutput::Lsn confirmed;  ///< highest LSN confirmed or found confirmed; zero: none
  /// The slot was seen in another instance's hands since: it may stand anywhere at or after its
  /// former position.
  bool lease_was_elsewhere = false;
  std::string stored_in;  ///< where it is kept that says so; empty: this process remembers
  std::string forget;     ///< what an operator does to have it forgotten there: "delete FILE"
};

/// Adds to `memory` what was found at `place`, where `forget` makes it go.
void remember(const StoredPosition& found, std::string place, std::string forget, Memory& memory);
/// The same of a position file, which may not be there yet.
void remember(const std::optional<StoredPosition>& found, const std::filesystem::path& file,
              Memory& memory);

/// What the tables' columns are checked against.
struct Expectations {
  const outbox::MappingOptions& mapping;
  const outbox::Router& router;
};

using Findings = std::vector<relay::Finding>;

/// Every rule of R8 on facts that were read. Pure; finds everything at once. A slot that is active
/// is no finding of its own: whether that is good depends on who asks.
[[nodiscard]] Findings preflight(const Catalogue& catalogue, const Memory& memory,
                                 const Options& options, const Expectations& expectations);

/// The parts of it.
void check_server(const ServerFacts& server, const Memory& memory, Findings& findings);
void check_slot(const Catalogue& catalogue, const Memory& memory, const Options& options,
                Findings& findings);
void check_publication(const std::optional<PublicationFacts>& publication, const Options& options,
                       const Expectations& expectations, Findings& findings);

/// All failing findings as one refusal, or nothing if none fails.
[[nodiscard]] std::optional<relay::SessionFailure> refusal(const Findings& findings);

/// SQL that takes a lost or foreign slot away and makes a new one, with what that costs.
[[nodiscard]] std::string slot_renewal(const std::string& slot);

}  // namespace walpost::postgres
