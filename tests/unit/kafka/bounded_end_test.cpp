#include "bounded_end.h"

#include <gtest/gtest.h>

#include <memory>

namespace walpost::kafka {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds ample{20000};

TEST(BoundedEndTest, WhatEndsIsWaitedFor) {
  bool ended = false;
  EXPECT_TRUE(ended_within(std::packaged_task<void()>([&ended] { ended = true; }), ample));
  EXPECT_TRUE(ended);
}

TEST(BoundedEndTest, WhatDoesNotEndIsLeftToItself) {
  std::promise<void> may_end;
  auto ended = std::make_shared<std::promise<void>>();
  std::packaged_task<void()> end([until = may_end.get_future().share(), ended] {
    until.wait();
    ended->set_value();
  });
  EXPECT_FALSE(ended_within(std::move(end), milliseconds{1}));
  may_end.set_value();
  EXPECT_EQ(ended->get_future().wait_for(ample), std::future_status::ready);
}

}  // namespace
}  // namespace walpost::kafka
