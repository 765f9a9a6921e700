#include "scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>

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
  EXPECT_FALSE(step_aside_if_late(due, due));
  EXPECT_FALSE(step_aside_if_late(due, due + 199us));
}

TEST(StepAsideTest, AThreadThatWokeLateMovesIfItCanAndMayUseTheSameCoresAsBefore) {
  const cpu_set_t before = allowed();
  EXPECT_EQ(step_aside_if_late(due, due + 200us), CPU_COUNT(&before) > 1);
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(StepAsideTest, WhoIsRestrictedToOneCoreMeanwhileStaysOnIt) {
  std::thread([] {
    step_aside_if_late(due, due + 1ms);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(step_aside_if_late(due, due + 1ms));
    const cpu_set_t after = allowed();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  }).join();
}

TEST(StepAsideTest, AWaitWithoutATimeToKeepIsNotLate) {
  EXPECT_FALSE(step_aside_if_late(relay::Instant::max(), due));
  EXPECT_FALSE(step_aside_if_late(relay::Instant::min(), due));
}

}  // namespace
}  // namespace walpost::cli
