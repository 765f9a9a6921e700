#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "unit/outbox/rows.h"
#include "walpost/outbox/router.h"

namespace walpost::outbox::testing {

inline const std::vector<Typed> all_columns{{"id", oid::uuid},
                                            {"aggregate_type", oid::text},
                                            {"aggregate_id", oid::text},
                                            {"event_type", oid::text},
                                            {"payload", oid::jsonb},
                                            {"headers", oid::jsonb},
                                            {"created_at", oid::timestamptz}};

/// Maps rows of one table and routes them.
class Routing : public ::testing::Test {
 protected:
  void learn(const std::vector<Typed>& columns) { mapper_.learn(relation(columns)); }

  void use(RouteOptions options) { router_ = std::make_unique<Router>(std::move(options)); }

  std::variant<Record, Poison> route(const Row& row) {
    row_ = row;
    const auto mapped = mapper_.map(row_.insert(), position_);
    return router_->route(std::get<Event>(mapped));
  }

  /// Valid until the next row.
  Record record(const Row& row) {
    const auto routed = route(row);
    if (const auto* poison = std::get_if<Poison>(&routed)) ADD_FAILURE() << poison->what;
    return std::get<Record>(routed);
  }

  Poison poison(const Row& row) { return std::get<Poison>(route(row)); }

  /// "name=value", or "name" alone for a null value.
  std::vector<std::string> headers(const Row& row) {
    std::vector<std::string> lines;
    for (const Header& header : record(row).headers) {
      lines.push_back(std::string(header.name));
      if (header.value) lines.back() += "=" + std::string(*header.value);
    }
    return lines;
  }

  Mapper mapper_{MappingOptions{{}, true}};
  std::unique_ptr<Router> router_ = std::make_unique<Router>(RouteOptions{});
  Position position_{pgoutput::Lsn{0x16B374D848}, 3, pgoutput::Timestamp{1}};

 private:
  Row row_;
};

}  // namespace walpost::outbox::testing
