// Work that fills the wait for an exchange. It takes at most one portion longer than the wait.
#include "gradcomp/exchange/detail/fill_wait.hpp"

#include <gtest/gtest.h>

namespace gradcomp {
namespace fill_wait_test {

struct Filled {
  int looks = 0, portions = 0;
  double portion = 0;

  /// An exchange that has ended at look number `last`, and `most` portions of work.
  void fill(int last, int most, Timeline* timeline = nullptr) {
    looks = portions = 0;
    fill_wait(portion, timeline, [&] { return portions < most && ++portions > 0; }, [&] { return ++looks >= last; });
  }
};

TEST(FillWait, DoesNothingWhenTheExchangeHasEnded) {
  Filled wait;
  wait.fill(1, 5);
  EXPECT_EQ(wait.portions, 0);
}

TEST(FillWait, EndsWithTheExchangeOrWithTheWork) {
  Filled wait;
  wait.fill(1000000000, 3);
  EXPECT_EQ(wait.portions, 3);
  EXPECT_GE(wait.portion, 0);
  wait.portion = 0;
  wait.fill(6, 1000);
  EXPECT_GE(wait.portions, 1);
  EXPECT_LE(wait.portions, 3) << "at least two looks come before each portion";
}

TEST(FillWait, LetsAShortExchangeEndBeforeMoreWorkBegins) {
  Filled wait;
  wait.portion = 800;  // an eighth of it is waited for, and the looks below end much earlier
  wait.fill(20, 5);
  EXPECT_EQ(wait.portions, 0);
}

TEST(FillWait, NotesThePausesAsWaiting) {
  Timeline timeline;
  timeline.begin_step();
  Filled wait;
  wait.portion = 800;
  wait.fill(20, 5, &timeline);
  timeline.end_step();
  EXPECT_GE(timeline.exposed_seconds().values().back(), 18 * 20e-6);
}

}  // namespace fill_wait_test
}  // namespace gradcomp
