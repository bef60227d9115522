// Strategies with a period: evaluations come when the replicas agree.
#include "error_of.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace period_test {

TEST(Period, OfLocalStepsDividesAnIntervalThatTheUserChose) {
  Rig rig;
  rig.options.block = rig.options.steps;
  rig.options.evaluate_every = 6;
  const std::string method = "fp32:strategy=local:strategy.period=4";
  EXPECT_EQ(gradcomp::test::error_of([&] { rig.run(method); }),
            "--evaluate-every 6 is not allowed: strategy local of method '" + method + "' needs a multiple of 4 steps");
  rig.options.block = 2;
  EXPECT_EQ(gradcomp::test::error_of([&] { rig.run(method); }),
            "--block 2 is not allowed: strategy local of method '" + method + "' needs a multiple of 4 steps");
  rig.options.steps = 6;
  EXPECT_EQ(gradcomp::test::error_of([&] { rig.run(method); }),
            "--steps 6 is not allowed: strategy local of method '" + method + "' needs a multiple of 4 steps");
  rig.options.block = rig.options.steps = 8;
  const auto accumulated = rig.run("fp32:strategy=accumulate:strategy.every=4");
  EXPECT_THAT(accumulated[0].curve.step, testing::ElementsAre(6, 8)) << "its replicas agree after every step";
}

TEST(Period, HasTheTimeOfAllItsSteps) {
  Rig rig;
  rig.options.steps = rig.options.block = 16;
  rig.options.evaluate_every = 4;
  const auto result = rig.run("fp32:strategy=local:strategy.period=4")[0];
  ASSERT_EQ(result.step_ms.size(), 3U) << "the first period of a block is not timed";
  for (std::size_t p = 0; p < 3; ++p) {
    const double seconds = result.curve.time_s[p + 1] - result.curve.time_s[p];
    EXPECT_GE(4e-3 * result.step_ms[p], 0.999 * seconds) << "the slowest rank takes at least as long as this one";
  }
  EXPECT_LE(result.stage_ms.at("forward"), report::quantile(result.step_ms, 0.5)) << "both are those of one step";
}

TEST(Period, OfLocalStepsRoundsTheDefaultIntervalUp) {
  Rig rig;
  rig.options.steps = rig.options.block = 24;
  rig.options.evaluate_every = 0;  // a quarter: 6 steps
  const auto evaluated = [&](const std::string& methods) { return rig.run(methods)[0].curve.step; };
  EXPECT_THAT(evaluated("fp32,fp32:strategy=accumulate:strategy.every=4"), testing::ElementsAre(6, 12, 18, 24));
  EXPECT_THAT(evaluated("fp32:strategy=local:strategy.period=4"), testing::ElementsAre(8, 16, 24));
  EXPECT_THAT(evaluated("fp32,fp32:strategy=local:strategy.period=4,fp32:strategy=local:strategy.period=6"),
              testing::ElementsAre(12, 24))
      << "a multiple of all periods";
}

}  // namespace period_test
}  // namespace gradcomp::train::test
