#pragma once

#include <string>
#include <vector>

#include "walpost/postgres/dead_letter_queue.h"

namespace walpost::cli {

/// One line a letter under a line of headings; a sentence when there is none.
[[nodiscard]] std::string letters_table(const std::vector<postgres::KeptLetter>& letters);

/// Everything of one letter, a line each. A value that isn't UTF-8 is shown in hex.
[[nodiscard]] std::string letter_text(const postgres::KeptLetter& letter);

/// One JSON object, without a line break. A value that isn't UTF-8 stands under "value_hex".
[[nodiscard]] std::string letter_json(const postgres::KeptLetter& letter, bool with_value);

}  // namespace walpost::cli
