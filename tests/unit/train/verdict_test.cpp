#include "gradcomp/train/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradcomp::train {
namespace {

using testing::DoubleEq;
using testing::Optional;

const Metric accuracy;

Outcome control(const char* name, double quality, double time) { return {name, true, false, quality, time}; }
Outcome method(const char* name, double quality, double time) { return {name, false, false, quality, time}; }

TEST(Judge, PrintsSpeedUpsOnlyAtMatchedQuality) {
  const auto v = judge(
      {control("fp32", 0.90, 100), control("fp16", 0.895, 80), method("top_k", 0.885, 50), method("qsgd", 0.70, 10)},
      accuracy, 0.02);
  EXPECT_TRUE(v[0].quality_matched);
  EXPECT_THAT(v[0].speedup_vs_fp32, Optional(DoubleEq(1.0)));
  EXPECT_THAT(v[0].speedup_vs_best_dense, Optional(DoubleEq(0.8)));
  EXPECT_THAT(v[2].speedup_vs_fp32, Optional(DoubleEq(2.0)));
  EXPECT_THAT(v[2].speedup_vs_best_dense, Optional(DoubleEq(1.6)));
  EXPECT_FALSE(v[3].quality_matched);
  EXPECT_FALSE(v[3].speedup_vs_fp32.has_value());
  EXPECT_FALSE(v[3].speedup_vs_best_dense.has_value());
}

TEST(Judge, PerplexityIsMatchedFromAboveByItsRatio) {
  const Metric perplexity(InputShape::Kind::tokens);
  const auto v = judge({control("fp32", 100, 10), method("top_k", 101.9, 5), method("qsgd", 102.1, 5),
                        method("sidco", 90, 5), method("strom", std::numeric_limits<double>::infinity(), 1)},
                       perplexity, 0.02);
  EXPECT_TRUE(v[1].quality_matched);
  EXPECT_FALSE(v[2].quality_matched);
  EXPECT_TRUE(v[3].quality_matched);
  EXPECT_FALSE(v[4].quality_matched);
}

TEST(Metric, IsOfTheKindOfTheTask) {
  const nn::Loss loss{4 * std::log(50.0), 3, 4};
  for (const auto kind : {InputShape::Kind::images, InputShape::Kind::frames}) {
    EXPECT_EQ(Metric(kind).name, "accuracy");
    EXPECT_EQ(Metric(kind).of(loss), 0.75);
    EXPECT_EQ(Metric(kind).text(0.75), "75.0 %");
  }
  const Metric perplexity(InputShape::Kind::tokens);
  EXPECT_EQ(perplexity.name, "perplexity");
  EXPECT_NEAR(perplexity.of(loss), 50, 1e-12);
  EXPECT_EQ(perplexity.rule(0.02), "the perplexity is at most fp32's x 1.02");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(perplexity.reaches(nan, 60) || accuracy.reaches(nan, 0));
}

TEST(Judge, ADenseControlThatMissesQualityIsNotTheBest) {
  const auto v =
      judge({control("fp32", 0.90, 100), control("fp16", 0.10, 1), method("top_k", 0.90, 50)}, accuracy, 0.02);
  EXPECT_THAT(v[2].speedup_vs_best_dense, Optional(DoubleEq(2.0)));
}

TEST(Judge, TheBoundAndDivergedReplicasNeverMatch) {
  auto bound = control("none", 0.95, 1);
  bound.bound = true;
  auto diverged = method("top_k", 0.95, 1);
  diverged.replicas_equal = false;
  const auto v = judge({control("fp32", 0.90, 100), bound, diverged}, accuracy, 0.02);
  EXPECT_FALSE(v[1].quality_matched);
  EXPECT_FALSE(v[2].quality_matched);
  EXPECT_THAT(v[0].speedup_vs_best_dense, Optional(DoubleEq(1.0)));
}

TEST(Judge, AMissedTargetShowsNoSpeedUp) {
  auto fp32 = control("fp32", 0.90, 100), fp16 = control("fp16", 0.90, 10), top_k = method("top_k", 0.90, 50);
  auto qsgd = method("qsgd", 0.90, 20);
  fp32.time_to_target = 6;
  top_k.time_to_target = 4;
  fp16.missed_target = qsgd.missed_target = true;
  const auto v = judge({fp32, fp16, top_k, qsgd}, accuracy, 0.02);
  EXPECT_THAT(v[2].speedup_vs_fp32, Optional(DoubleEq(2.0)));
  EXPECT_THAT(v[2].speedup_vs_best_dense, Optional(DoubleEq(2.0))) << "fp16 missed the target: fp32 is the best";
  EXPECT_THAT(v[2].speedup_to_target, Optional(DoubleEq(1.5)));
  EXPECT_TRUE(v[3].quality_matched);
  EXPECT_FALSE(v[3].speedup_vs_fp32 || v[3].speedup_vs_best_dense || v[3].speedup_to_target);
}

TEST(Judge, WithoutAReferenceNothingMatches) {
  EXPECT_FALSE(judge({method("top_k", 0.9, 1)}, accuracy, 1.0)[0].quality_matched);
  auto nan = control("fp32", std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_FALSE(judge({nan, method("top_k", 0.9, 1)}, accuracy, 1.0)[1].quality_matched);
}

}  // namespace
}  // namespace gradcomp::train
