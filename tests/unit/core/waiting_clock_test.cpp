// The clock for limits of waiting leaves out the time in which nobody could look at it.
#include "gradcomp/core/waiting_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace gradcomp {
namespace {

TEST(WaitingClock, AdvancesByAtMostAQuarterOfASecondBetweenTwoCalls) {
  const double begin = waiting_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // as if the process had been stopped
  const double end = waiting_seconds();
  EXPECT_GT(end, begin);
  EXPECT_LE(end - begin, 0.25 + 1e-9);
}

TEST(WaitingClock, AdvancesWhileSomebodyLooks) {
  const double begin = waiting_seconds();
  for (int look = 0; look < 100'000 && waiting_seconds() - begin < 0.3; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(waiting_seconds() - begin, 0.3);
}

}  // namespace
}  // namespace gradcomp
