#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace walpost::test {

/// The id of an outbox row.
using RowId = std::array<std::uint64_t, 2>;
/// Nothing if it isn't a UUID.
[[nodiscard]] std::optional<RowId> row_id(std::string_view uuid);

/// Rows of two outbox tables in the order of their commits, as PostgreSQL's own test_decoding tells
/// it on the slot "oracle", which is moved on. Which of them are events is told by marks: rows of
/// the table chaos_marks, committed in one transaction with what they speak of. One thread.
class CommitOrder {
 public:
  struct Row {
    std::uint64_t rank = 0;  ///< in commit order over both tables
    bool doomed = false;     ///< of outbox_doomed
    bool published = true;   ///< false: its table wasn't in the publication
    bool seen = false;
    std::string key;      ///< emptied when seen
    std::string payload;  ///< likewise
  };

  /// Beginnings of marks. No row is an event from unpublished_mark on, until published_mark.
  static constexpr const char* unpublished_mark = "unpublished";
  static constexpr const char* published_mark = "published";
  /// The topic of outbox_doomed was deleted and is there again: what was committed before may be
  /// gone with it.
  static constexpr const char* remade_mark = "remade";

  /// Tables of the marks and of the doomed rows.
  static void make_tables(const std::function<void(const std::string&)>& exec);
  /// The statement that makes a mark; no two marks of a run are the same.
  static std::string mark(const std::string& what);

  /// Takes in what was committed since the last call. Throws SqlError if the server is away.
  void read(const std::string& conninfo);

  [[nodiscard]] Row* find(const RowId& id);
  void seen(Row& row);
  /// It may have been in the topic that was deleted: it can be published again any time later.
  [[nodiscard]] bool excused(const Row& row) const { return row.doomed && row.rank < remade_rank_; }
  /// Where the mark lies among the ranks; nothing: not read yet.
  [[nodiscard]] std::optional<std::uint64_t> rank_of(const std::string& mark) const;
  /// Events of lower rank that have to be in their topic and weren't seen.
  [[nodiscard]] std::size_t missing_before(std::uint64_t rank) const;
  [[nodiscard]] std::size_t missing() const { return missing_before(next_rank_); }

  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t unpublished() const { return unpublished_; }
  /// Events that were deleted with their topic before anybody saw them.
  [[nodiscard]] std::size_t deleted() const { return deleted_; }

 private:
  struct Hash {
    std::size_t operator()(const RowId& id) const { return id[0] ^ id[1]; }
  };
  void take_mark(const std::string& what);
  void excuse_doomed();

  std::unordered_map<RowId, Row, Hash> rows_;
  std::set<RowId> marks_read_;
  std::map<std::string, std::uint64_t> marks_;
  std::map<std::uint64_t, bool> unseen_;  ///< rank -> doomed
  std::uint64_t next_rank_ = 0;
  std::uint64_t remade_rank_ = 0;  ///< doomed rows below may be gone with their topic
  bool publishing_ = true;
  std::size_t events_ = 0;
  std::size_t unpublished_ = 0;
  std::size_t deleted_ = 0;
};

}  // namespace walpost::test
