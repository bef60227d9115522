#include "gradcomp/measure/timeline.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "gradcomp/measure/stopwatch.hpp"
#include "unit/measure/fake_transport.hpp"

namespace gradcomp {
namespace timeline_test {

TEST(Timeline, StageNamesAreTheDesignPages) {
  EXPECT_STREQ(name_of(Stage::data), "data");
  EXPECT_STREQ(name_of(Stage::forward), "forward");
  EXPECT_STREQ(name_of(Stage::backward), "backward");
  EXPECT_STREQ(name_of(Stage::compress), "compress");
  EXPECT_STREQ(name_of(Stage::exchange), "exchange");
  EXPECT_STREQ(name_of(Stage::decompress), "decompress");
  EXPECT_STREQ(name_of(Stage::update), "update");
  EXPECT_STREQ(name_of(Stage::importance), "importance");
}

TEST(Timeline, CoveredCountsOverlapOnce) {
  EXPECT_DOUBLE_EQ(covered({}), 0);
  EXPECT_DOUBLE_EQ(covered({{1, 2}, {3, 5}}), 3);
  EXPECT_DOUBLE_EQ(covered({{3, 6}, {1, 4}}), 5);
  EXPECT_DOUBLE_EQ(covered({{1, 9}, {2, 3}, {8, 10}}), 9);
  EXPECT_DOUBLE_EQ(covered({{2, 2}, {5, 4}}), 0);
  EXPECT_DOUBLE_EQ(covered({{-5, -2}}), 3);
}

TEST(Timeline, OverlappedStep) {
  // Backward lasts from 10 to 20; two buckets travel from 14 to 18 and from 19 to 26; the main thread waits from 21
  // to 26.
  Timeline t;
  t.begin_step(5);
  t.add(Stage::forward, 6, 10);
  t.add(Stage::backward, 10, 20);
  t.add(Stage::exchange, 14, 18);
  t.add(Stage::compress, 20, 21);
  t.add(Stage::exchange, 19, 26);
  t.add_wait(21, 26);
  t.add(Stage::update, 26, 27);
  t.end_step(28);
  EXPECT_DOUBLE_EQ(t.step_seconds().median(), 23);
  EXPECT_DOUBLE_EQ(t.stage_seconds(Stage::backward).median(), 10);
  EXPECT_DOUBLE_EQ(t.communication_seconds().median(), 11);
  EXPECT_DOUBLE_EQ(t.exposed_seconds().median(), 5);
  EXPECT_DOUBLE_EQ(t.hidden_seconds().median(), 6);
  EXPECT_DOUBLE_EQ(t.stage_seconds(Stage::data).median(), 0);
  ASSERT_EQ(t.last(Stage::exchange).size(), 2U);
  EXPECT_DOUBLE_EQ(t.last(Stage::exchange)[1].start, 14);  // 19 after a begin at 5
  EXPECT_DOUBLE_EQ(t.last(Stage::exchange)[1].end, 21);
}

TEST(Timeline, OneSamplePerStepAndMedians) {
  Timeline t;
  EXPECT_TRUE(t.medians_ms().empty());
  for (int step = 0; step < 3; ++step) {
    t.begin_step(step);
    t.add(Stage::exchange, step, step + 0.1 * (step + 1));
    t.add_wait(step, step + 0.1 * (step + 1));
    t.end_step(step + 0.5);
  }
  EXPECT_EQ(t.step_seconds().count(), 3);
  const auto medians = t.medians_ms();
  EXPECT_EQ(medians.size(), stage_count + 2);
  EXPECT_NEAR(medians.at("exchange"), 200, 1e-9);
  EXPECT_NEAR(medians.at("exposed"), 200, 1e-9);
  EXPECT_NEAR(medians.at("forward"), 0, 1e-9);
  EXPECT_NEAR(t.hidden_seconds().maximum(), 0, 1e-12);
  t.add(Stage::data, 5, 6);  // of a step that does not end
  t.add_wait(5, 6);
  t.clear();
  EXPECT_EQ(t.step_seconds().count(), 0);
  EXPECT_TRUE(t.medians_ms().empty());
  EXPECT_TRUE(t.last(Stage::exchange).empty());
  t.begin_step(7);
  t.add(Stage::exchange, 7, 8);
  t.end_step(9);
  for (const auto& [stage, ms] : t.medians_ms())
    EXPECT_EQ(ms, stage == "exchange" || stage == "hidden" ? 1000 : 0) << stage;
}

TEST(Timeline, AddsFromACommunicationThread) {
  Timeline t;
  t.begin_step(0);
  {
    const std::jthread other([&] {
      for (int i = 0; i < 1000; ++i) t.add(Stage::exchange, i, i + 0.5);
    });
    for (int i = 0; i < 1000; ++i) t.add(Stage::backward, i, i + 0.25);
  }
  t.end_step(1000);
  EXPECT_DOUBLE_EQ(t.communication_seconds().median(), 500);
  EXPECT_DOUBLE_EQ(t.stage_seconds(Stage::backward).median(), 250);
}

TEST(Timeline, ScopesTakeTheClock) {
  Timeline t;
  t.begin_step();
  {
    const StageScope stage(Exec(), &t, Stage::decompress);
    const WaitScope wait(&t);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  {
    const StageScope nothing(Exec(), nullptr, Stage::compress);
  }
  t.end_step();
  EXPECT_GE(t.stage_seconds(Stage::decompress).median(), 0.005);
  EXPECT_GE(t.exposed_seconds().median(), 0.005);
  EXPECT_DOUBLE_EQ(t.stage_seconds(Stage::compress).median(), 0);
  EXPECT_GE(t.step_seconds().median(), t.stage_seconds(Stage::decompress).median());
}

TEST(Stopwatch, TimesAndMeetsAtBarriers) {
  int barriers = 0;
  const auto comm = scripted({}, &barriers);
  Stopwatch watch(Exec(), comm.get());
  watch.start();
  EXPECT_EQ(barriers, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double seconds = watch.stop();
  EXPECT_EQ(barriers, 2);
  EXPECT_GE(seconds, 0.005);
  Stopwatch alone{Exec()};
  alone.start();
  EXPECT_GE(alone.stop(), 0);
}

}  // namespace timeline_test
}  // namespace gradcomp
