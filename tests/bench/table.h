#pragma once

#include <string>
#include <vector>

namespace walpost::bench {

/// Text in columns, for a terminal. The first column is aligned left, numbers right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  /// REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  ///< the header first
};

/// 83123.4 -> "83,123".
[[nodiscard]] std::string grouped(double value);
/// Fixed point.
[[nodiscard]] std::string decimal(double value, int digits);

}  // namespace walpost::bench
