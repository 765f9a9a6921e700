#pragma once

#include <vector>

namespace walpost::bench {

enum class Verdict { passed, failed, undecided };

/// Whether something reaches `least`, by the ratios of pairs of which chance moves each by some
/// 20 %, up or down. Passed: their median reaches it. Failed: so few pairs do that chance alone
/// would give so few less often than once in fifty times if the true median were `least` (one-sided
/// sign test, which asks nothing of the distribution). Undecided: more pairs are needed to tell.
/// REQUIRES: at least one ratio.
[[nodiscard]] Verdict judge(const std::vector<double>& ratios, double least);

}  // namespace walpost::bench
