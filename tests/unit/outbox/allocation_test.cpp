#include <gmock/gmock.h>

#include <cstdlib>
#include <new>

#include "unit/outbox/rows.h"
#include "walpost/outbox/mapper.h"
#include "walpost/outbox/router.h"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is what operator new is made of
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

// NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
void release(void* memory) noexcept {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}

namespace walpost::outbox {
namespace {

using namespace testing;

const std::vector<Typed> standard_columns{{"id", oid::uuid},
                                          {"aggregate_type", oid::text},
                                          {"aggregate_id", oid::bpchar},
                                          {"event_type", oid::text},
                                          {"payload", oid::bytea},
                                          {"headers", oid::jsonb},
                                          {"created_at", oid::timestamptz}};

Row standard_row(std::uint32_t i) {
  const std::string id = "0b3f8e5c-6f43-4f34-9c8e-" + std::to_string(100000000000 + i);
  const std::string key = "customer-" + std::to_string(i % 7) + "-with-a-long-name     ";
  const std::string headers = R"({"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00", )"
                              R"("note": "caf\u00e9 \ud83d\ude00 )" +
                              std::to_string(i % 10) + R"(", "attempt": 3})";
  const std::string payload = "\\x" + std::string(200 * (i % 3), '6');
  const std::string_view type = i % 2 == 0 ? "an-order-of-some-kind" : "a-customer-of-some-kind";
  return Row{
      id, type, key, "OrderPlacedByCustomer", payload, headers, "2026-12-01 04:07:24.123456+05:30"};
}

struct Counted {
  std::size_t allocations;
  std::size_t records;
};

Counted count(const RouteOptions& options) {
  Mapper mapper{MappingOptions{}};
  mapper.learn(relation(standard_columns));
  Router router{options};
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < 1000; ++i) rows.push_back(standard_row(i));
  Counted counted{0, 0};
  for (int round = 0; round < 2; ++round) {
    counted = {allocations, 0};
    std::uint32_t ordinal = 0;
    for (const Row& row : rows) {
      const auto mapped = mapper.map(row.insert(), {pgoutput::Lsn{0x16B374D848}, ordinal++, {}});
      const auto routed = router.route(std::get<Event>(mapped));
      counted.records += std::size_t{std::holds_alternative<Record>(routed)};
    }
    counted.allocations = allocations - counted.allocations;
  }
  return counted;
}

TEST(Allocations, CountingWorks) {
  const std::size_t before = allocations;
  const auto made = std::make_unique<int>(1);
  EXPECT_EQ(allocations, before + 1);
}

TEST(Allocations, SteadyStreamWithDefaultsAllocatesNothing) {
  const Counted counted = count({});
  EXPECT_EQ(counted.records, 1000u);
  EXPECT_EQ(counted.allocations, 0u);
}

TEST(Allocations, SteadyStreamWithTemplatesAndTopicsAllocatesNothing) {
  const Counted counted = count({.topic = "a-rather-long-prefix.{schema}.{table}.{aggregate_type}",
                                 .topics = {{"SomethingElse", "elsewhere"}},
                                 .key = "{aggregate_type}/{aggregate_id}",
                                 .headers = {{"origin", "the.table.{table}.and.{aggregate_id}"}}});
  EXPECT_EQ(counted.records, 1000u);
  EXPECT_EQ(counted.allocations, 0u);
}

}  // namespace
}  // namespace walpost::outbox
