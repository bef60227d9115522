// The thread that watches calls in flight: when it looks at them, and that it ends. Nothing here depends on time,
// except for a limit after which a test fails.
#include "gradcomp/comm/detail/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace gradcomp::comm {
namespace watchdog_test {

using namespace std::chrono_literals;

constexpr auto period = 1ms;

/// Waits until `done()` is true. Returns false if this takes longer than a minute.
template <class F>
bool soon(F done) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(period);
  }
  return true;
}

/// The function that looks. It asks for more until it has been called `wanted` times.
struct Looks {
  std::atomic<int> begun = 0, done = 0, wanted = 1;
  std::thread::id beginner, looker;
  Watchdog watchdog{period,
                    [this] {
                      beginner = std::this_thread::get_id();
                      ++begun;
                    },
                    [this] {
                      looker = std::this_thread::get_id();
                      return ++done < wanted;
                    }};
};

TEST(Watchdog, SleepsUntilItIsWoken) {
  Looks looks;
  ASSERT_TRUE(soon([&] { return looks.begun == 1; }));
  std::this_thread::sleep_for(20 * period);
  EXPECT_EQ(looks.done, 0);
}

TEST(Watchdog, LooksUntilThereIsNothingMore) {
  Looks looks;
  looks.wanted = 5;
  looks.watchdog.wake();
  ASSERT_TRUE(soon([&] { return looks.done == 5; }));
  std::this_thread::sleep_for(20 * period);
  EXPECT_EQ(looks.done, 5);
  looks.watchdog.wake();
  EXPECT_TRUE(soon([&] { return looks.done == 6; })) << "it must not wake a second time";
}

TEST(Watchdog, BeginsOnceOnTheThreadThatLooks) {
  Looks looks;
  looks.wanted = 3;
  looks.watchdog.wake();
  ASSERT_TRUE(soon([&] { return looks.done == 3; }));
  EXPECT_EQ(looks.begun, 1);
  EXPECT_EQ(looks.beginner, looks.looker);
  EXPECT_NE(looks.looker, std::this_thread::get_id());
}

TEST(Watchdog, KeepsACallThatComesDuringALook) {
  std::atomic<int> looks = 0;
  std::atomic<bool> woken = false;
  Watchdog watchdog(
      period, [] {},
      [&] {
        if (++looks == 1) soon([&] { return woken.load(); });
        return false;
      });
  watchdog.wake();
  ASSERT_TRUE(soon([&] { return looks == 1; }));
  watchdog.wake();  // the first look has found nothing, but is still running
  woken = true;
  EXPECT_TRUE(soon([&] { return looks == 2; }));
}

TEST(Watchdog, EndsWhileThereIsStillSomethingToLookAfter) {
  std::atomic<int> looks = 0;
  {
    Watchdog watchdog(period, [] {}, [&] { return ++looks > 0; });
    watchdog.wake();
    ASSERT_TRUE(soon([&] { return looks > 2; }));
  }
  const int at_end = looks;
  std::this_thread::sleep_for(20 * period);
  EXPECT_EQ(looks, at_end);
}

TEST(Watchdog, EndsWithoutWaitingForItsPeriod) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Watchdog asleep(1h, [] {}, [] { return true; });
    Watchdog awake(1h, [] {}, [] { return true; });
    awake.wake();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10min);
}

}  // namespace watchdog_test
}  // namespace gradcomp::comm
