// The thread that runs tasks at their times.
#include "gradcomp/comm/detail/timer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace gradcomp::comm {
namespace timer_test {

TEST(Timer, ATaskThatHasRunLetsGoOfItsWork) {
  Timer timer;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = held;
  const auto task = timer.at(Clock::now(), [mine = std::move(held)] { ++*mine; });
  EXPECT_TRUE(task->done(true));
  EXPECT_TRUE(seen.expired());
}

}  // namespace timer_test
}  // namespace gradcomp::comm
