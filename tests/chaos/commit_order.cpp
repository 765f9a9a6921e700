#include "chaos/commit_order.h"

#include <charconv>

#include "support/postgres_server.h"

namespace walpost::test {
namespace {

constexpr std::size_t uuid_size = 36;
constexpr std::size_t digits_of_half = 16;

// Of "table public.outbox: INSERT: id[uuid]:'…' aggregate_type[text]:'order' …", where no value of
// these tests has a quote in it.
constexpr const char* read_sql = R"(
select substring(data from '^table public\.([a-z_]+): INSERT: '),
       substring(data from 'id\[uuid\]:''([^'']*)'''),
       substring(data from 'aggregate_id\[text\]:''([^'']*)'''),
       substring(data from 'payload\[jsonb\]:''([^'']*)'''),
       substring(data from 'what\[text\]:''([^'']*)''')
from pg_logical_slot_get_changes('oracle', null, null, 'include-xids', '0', 'skip-empty-xacts', '1')
where data ~ '^table public\.(outbox|outbox_doomed|chaos_marks): INSERT: ')";

}  // namespace

std::optional<RowId> row_id(std::string_view uuid) {
  if (uuid.size() != uuid_size) return std::nullopt;
  std::string digits;
  for (const char c : uuid)
    if (c != '-') digits += c;
  if (digits.size() != 2 * digits_of_half) return std::nullopt;
  RowId id{};
  for (std::size_t half = 0; half < id.size(); ++half) {
    const char* const from = digits.data() + half * digits_of_half;
    const auto parsed = std::from_chars(from, from + digits_of_half, id[half], 16);
    if (parsed.ptr != from + digits_of_half) return std::nullopt;
  }
  return id;
}

void CommitOrder::make_tables(const std::function<void(const std::string&)>& exec) {
  exec("create table outbox_doomed(like outbox including all)");
  exec("create table chaos_marks(id uuid primary key default gen_random_uuid(), what text)");
}

std::string CommitOrder::mark(const std::string& what) {
  return "insert into chaos_marks(what) values ('" + what + "')";
}

// A crash takes the slot back: then rows come that are known already, in the order of before.
void CommitOrder::read(const std::string& conninfo) {
  for (const auto& fields : Session(conninfo).rows(read_sql)) {
    const RowId id = row_id(fields[1].value()).value();
    const std::string& table = fields[0].value();
    if (table == "chaos_marks") {
      if (marks_read_.insert(id).second) take_mark(fields[4].value());
      continue;
    }
    const bool doomed = table == "outbox_doomed";
    Row row{next_rank_, doomed, publishing_, false, fields[2].value(), fields[3].value()};
    if (!rows_.emplace(id, std::move(row)).second) continue;
    ++(publishing_ ? events_ : unpublished_);
    if (publishing_) unseen_.emplace(next_rank_, doomed);
    ++next_rank_;
  }
}

void CommitOrder::take_mark(const std::string& what) {
  marks_[what] = next_rank_;
  if (what.starts_with(unpublished_mark)) publishing_ = false;
  if (what.starts_with(published_mark)) publishing_ = true;
  if (what.starts_with(remade_mark)) excuse_doomed();
}

void CommitOrder::excuse_doomed() {
  remade_rank_ = next_rank_;
  deleted_ += std::erase_if(unseen_, [](const auto& row) { return row.second; });
}

CommitOrder::Row* CommitOrder::find(const RowId& id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

void CommitOrder::seen(Row& row) {
  row.seen = true;
  row.key = {};
  row.payload = {};
  unseen_.erase(row.rank);
}

std::optional<std::uint64_t> CommitOrder::rank_of(const std::string& mark) const {
  const auto found = marks_.find(mark);
  if (found == marks_.end()) return std::nullopt;
  return found->second;
}

std::size_t CommitOrder::missing_before(std::uint64_t rank) const {
  return static_cast<std::size_t>(std::distance(unseen_.begin(), unseen_.lower_bound(rank)));
}

}  // namespace walpost::test
