#include "call_thread.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <future>
#include <stdexcept>

namespace walpost::kafka {
namespace {

bool becomes_readable(const Wakeup& wakeup) {
  pollfd fd{wakeup.fd(), POLLIN, 0};
  return poll(&fd, 1, 10000) == 1;
}

TEST(CallThreadTest, ACallRunsBesideAndItsReturnWakesTheOwner) {
  Wakeup wakeup;
  CallThread calls(wakeup);
  std::promise<void> go;
  int result = 0;
  calls.start([&, may = go.get_future().share()] {
    may.wait();
    result = 7;
  });
  EXPECT_TRUE(calls.busy());
  EXPECT_FALSE(calls.finished());
  go.set_value();
  ASSERT_TRUE(becomes_readable(wakeup));
  EXPECT_TRUE(calls.finished());
  EXPECT_EQ(result, 7);
  EXPECT_FALSE(calls.finished());
  EXPECT_FALSE(calls.busy());
}

TEST(CallThreadTest, WhatACallThrowsIsThrownToTheOwnerOnce) {
  Wakeup wakeup;
  CallThread calls(wakeup);
  calls.start([] { throw std::runtime_error("no"); });
  ASSERT_TRUE(becomes_readable(wakeup));
  EXPECT_THROW(calls.finished(), std::runtime_error);
  EXPECT_FALSE(calls.busy());
  wakeup.clear();
  calls.start([] {});
  ASSERT_TRUE(becomes_readable(wakeup));
  EXPECT_TRUE(calls.finished());
}

TEST(CallThreadTest, ASecondCallWhileOneRunsIsAMistake) {
  Wakeup wakeup;
  CallThread calls(wakeup);
  std::promise<void> go;
  calls.start([may = go.get_future().share()] { may.wait(); });
  EXPECT_THROW(calls.start([] {}), std::logic_error);
  go.set_value();
}

}  // namespace
}  // namespace walpost::kafka
