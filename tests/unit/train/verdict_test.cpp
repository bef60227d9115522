#include "gradcomp/train/verdict.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gradcomp::train {
namespace {

Outcome control(const char* name, double accuracy, double time) { return {name, true, false, accuracy, time, true}; }
Outcome method(const char* name, double accuracy, double time) { return {name, false, false, accuracy, time, true}; }

TEST(Judge, PrintsSpeedUpsOnlyAtMatchedQuality) {
  const auto v = judge(
      {control("fp32", 0.90, 100), control("fp16", 0.895, 80), method("top_k", 0.885, 50), method("qsgd", 0.70, 10)},
      0.02);
  EXPECT_TRUE(v[0].quality_matched);
  EXPECT_DOUBLE_EQ(*v[0].speedup_vs_fp32, 1.0);
  EXPECT_DOUBLE_EQ(*v[0].speedup_vs_best_dense, 0.8);
  EXPECT_DOUBLE_EQ(*v[2].speedup_vs_fp32, 2.0);
  EXPECT_DOUBLE_EQ(*v[2].speedup_vs_best_dense, 1.6);
  EXPECT_FALSE(v[3].quality_matched);
  EXPECT_FALSE(v[3].speedup_vs_fp32.has_value());
  EXPECT_FALSE(v[3].speedup_vs_best_dense.has_value());
}

TEST(Judge, ADenseControlThatMissesQualityIsNotTheBest) {
  const auto v = judge({control("fp32", 0.90, 100), control("fp16", 0.10, 1), method("top_k", 0.90, 50)}, 0.02);
  EXPECT_DOUBLE_EQ(*v[2].speedup_vs_best_dense, 2.0);
}

TEST(Judge, TheBoundAndDivergedReplicasNeverMatch) {
  auto bound = control("none", 0.95, 1);
  bound.bound = true;
  auto diverged = method("top_k", 0.95, 1);
  diverged.replicas_equal = false;
  const auto v = judge({control("fp32", 0.90, 100), bound, diverged}, 0.02);
  EXPECT_FALSE(v[1].quality_matched);
  EXPECT_FALSE(v[2].quality_matched);
  EXPECT_DOUBLE_EQ(*v[0].speedup_vs_best_dense, 1.0);
}

TEST(Judge, WithoutAReferenceNothingMatches) {
  EXPECT_FALSE(judge({method("top_k", 0.9, 1)}, 1.0)[0].quality_matched);
  auto nan = control("fp32", std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_FALSE(judge({nan, method("top_k", 0.9, 1)}, 1.0)[1].quality_matched);
}

}  // namespace
}  // namespace gradcomp::train
