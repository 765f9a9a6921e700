#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"
#include "walpost/postgres/options.h"
#include "walpost/relay/finding.h"
#include "walpost/relay/position_recall.h"

namespace walpost::postgres {

/// The shapes of outbox table that walpost can create.
enum class OutboxPreset {
  standard,  ///< id uuid, aggregate_type, aggregate_id, event_type, payload jsonb, headers,
             ///< created_at
  debezium,  ///< id uuid, aggregatetype, aggregateid, type, payload jsonb
};

/// DDL of an outbox table; `table` may be schema-qualified. Ends in a newline.
[[nodiscard]] std::string outbox_ddl(OutboxPreset preset, const std::string& table);

/// DDL of schema walpost with the tables of dead letters and parked keys. Ends in a newline.
[[nodiscard]] std::string dead_letter_ddl();

struct SetupRequest {
  std::vector<std::string> tables;  ///< the outbox tables to publish, schema.table or table
  std::optional<OutboxPreset> create_outbox;  ///< also create the tables that do not exist yet
  bool dead_letter = false;                   ///< also create the tables of dead letters
};

/// One statement of the setup, in the order tables, publication, slot.
struct SetupStep {
  std::string what;   ///< "publication walpost"
  std::string sql;    ///< exactly what is or would be run
  bool done = false;  ///< it exists already as wanted: nothing to run
};

/// Reads the catalogue and says what is missing. Changes nothing. Throws relay::SessionFailure,
/// with refused where something exists but differs (it is never altered or dropped).
[[nodiscard]] std::vector<SetupStep> plan_setup(const Options& options,
                                                const SetupRequest& request);

/// Runs the steps that are not done. Throws relay::SessionFailure.
void apply_setup(const Options& options, const std::vector<SetupStep>& steps);

/// Every preflight check of the PostgreSQL side, for `walpost check`; with `dead_letters`, of their
/// tables, too. Never throws for a failing check: a server that can't be reached is a finding too.
/// `recall` as in ReplicationSource.
[[nodiscard]] std::vector<relay::Finding> check(const Options& options,
                                                const outbox::MappingOptions& mapping,
                                                const outbox::Router& router, bool dead_letters,
                                                relay::PositionRecall* recall = nullptr);

}  // namespace walpost::postgres
