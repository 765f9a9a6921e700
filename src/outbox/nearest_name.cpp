#include "nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace walpost::outbox {

namespace {

/// Levenshtein distance: insertions, deletions and replacements of single bytes.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  // Beyond half of its letters a name is another word, and suggesting it misleads.
  std::size_t best = name.size() / 2 + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = edits_between(name, candidate);
    if (edits < best) {
      best = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace walpost::outbox
