#include "scheduling.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace walpost::cli {
namespace {

using namespace std::chrono_literals;

cpu_set_t allowed() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

constexpr relay::Instant due{24h};

TEST(StepAsideTest, AThreadThatWokeInTimeStaysWhereItIs) {
  StepAside step_aside;
  EXPECT_FALSE(step_aside.woke(due, due));
  EXPECT_FALSE(step_aside.woke(due, due + 199us));
}

TEST(StepAsideTest, AThreadThatWokeLateMovesAndMayUseTheSameCoresAsBefore) {
  const cpu_set_t before = allowed();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core";
  StepAside step_aside;
  EXPECT_TRUE(step_aside.woke(due, due + 200us));
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(StepAsideTest, WhoMayUseOneCoreOnlyStaysOnIt) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    StepAside step_aside;
    EXPECT_FALSE(step_aside.woke(due, due + 1ms));
    const cpu_set_t after = allowed();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  }).join();
}

TEST(StepAsideTest, AWaitWithoutATimeToKeepIsNotLate) {
  StepAside step_aside;
  EXPECT_FALSE(step_aside.woke(relay::Instant::max(), due));
  EXPECT_FALSE(step_aside.woke(relay::Instant::min(), due));
}

}  // namespace
}  // namespace walpost::cli
