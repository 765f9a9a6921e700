#include "exit_code.h"

#include <gtest/gtest.h>

namespace walpost::cli {
namespace {

using relay::FailureKind;
using End = relay::Outcome::End;

// The numbers are those of the documentation, "Exit codes".
TEST(ExitCodeTest, OfARunSaysHowItEnded) {
  EXPECT_EQ(static_cast<int>(exit_code(End::stopped)), 0);
  EXPECT_EQ(static_cast<int>(exit_code(End::drain_timed_out)), 1);
  EXPECT_EQ(static_cast<int>(exit_code(End::refused)), 3);
  EXPECT_EQ(static_cast<int>(exit_code(End::poisoned)), 4);
}

TEST(ExitCodeTest, OfAFailedCommandSaysWhetherAnOperatorIsNeeded) {
  EXPECT_EQ(static_cast<int>(exit_code(FailureKind::refused)), 3);
  EXPECT_EQ(static_cast<int>(exit_code(FailureKind::poisoned)), 4);
  for (const FailureKind kind : {FailureKind::transient, FailureKind::slot_active,
                                 FailureKind::server_stopping, FailureKind::interrupted}) {
    EXPECT_EQ(static_cast<int>(exit_code(kind)), 1);
  }
}

}  // namespace
}  // namespace walpost::cli
