#include "wakeup.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

bool readable(const Wakeup& wakeup, milliseconds wait) {
  pollfd descriptor{wakeup.fd(), POLLIN, 0};
  return poll(&descriptor, 1, static_cast<int>(wait.count())) == 1;
}

TEST(Wakeup, IsReadableFromRaiseToClear) {
  Wakeup wakeup;
  EXPECT_FALSE(readable(wakeup, milliseconds{0}));
  wakeup.raise();
  wakeup.raise();
  EXPECT_TRUE(readable(wakeup, milliseconds{0}));
  wakeup.clear();
  EXPECT_FALSE(readable(wakeup, milliseconds{0}));
}

TEST(Wakeup, IsReadableOnceItsTimeHasCome) {
  Wakeup wakeup;
  wakeup.after(milliseconds{1});
  EXPECT_TRUE(readable(wakeup, milliseconds{10000}));
}

TEST(Wakeup, ATimeInThePastIsNow) {
  Wakeup wakeup;
  wakeup.after(milliseconds{-5});
  EXPECT_TRUE(readable(wakeup, milliseconds{10000}));
}

TEST(Wakeup, AWishCanBeWithdrawn) {
  Wakeup wakeup;
  wakeup.after(milliseconds{20});
  wakeup.after(std::nullopt);
  EXPECT_FALSE(readable(wakeup, milliseconds{60}));
}

}  // namespace
}  // namespace walpost::kafka
