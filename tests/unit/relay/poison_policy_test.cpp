#include "walpost/relay/poison_policy.h"

#include <gtest/gtest.h>

#include "unit/relay/scripted_relay.h"

namespace walpost::relay {
namespace {

using pgoutput::Lsn;

TEST(PoisonPolicy, ForgetsWhatTheStreamHasLeftBehind) {
  const scripted::ScriptedClock clock;
  PoisonPolicy policy({}, nullptr, clock);
  const outbox::Position first{Lsn{200}, 1, pgoutput::Timestamp{7}};
  const outbox::Position second{Lsn{300}, 0, pgoutput::Timestamp{8}};
  policy.condemn(first, "too large");
  policy.suspect(second);
  policy.reach(Lsn{200});
  EXPECT_EQ(policy.why_condemned(first), "too large");
  policy.reach(Lsn{201});
  EXPECT_EQ(policy.why_condemned(first), std::nullopt);
  EXPECT_TRUE(policy.is_suspect(second));
  EXPECT_FALSE(policy.is_quiet());
  policy.reach(Lsn{301});
  EXPECT_TRUE(policy.is_quiet());
}

}  // namespace
}  // namespace walpost::relay
