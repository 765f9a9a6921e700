#include "walpost/outbox/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace walpost::outbox {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours, each counted as one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wanted,
                                        std::span<const std::string> known) {
  // One slip is always forgiven, and one more for every four letters: a longer name has room for
  // more of them, while two changes to a short word make it another word.
  std::size_t nearest = 1 + wanted.size() / 4;
  std::optional<std::string> found;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < nearest || (distance == nearest && !found)) {
      nearest = distance;
      found = name;
    }
  }
  return found;
}

}  // namespace walpost::outbox
