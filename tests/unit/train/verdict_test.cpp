#include "gradcomp/train/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradcomp::train {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::Eq;
using testing::HasSubstr;
using testing::Optional;
using Role = Entrant::Role;

const double nan = std::numeric_limits<double>::quiet_NaN();

/// An entrant with one seed.
Entrant entrant(Role role, double quality, double time) { return {role, {{quality, time}}}; }
Entrant method(double quality, double time) { return entrant(Role::method, quality, time); }

/// The rules of an image task with ten equal classes.
Rules rules(double tolerance = 0.02) { return {Metric(), tolerance, {0.1, std::log(10.0), 2000}, false, true}; }
Rules text_rules(double tolerance = 0.02) {
  return {Metric(InputShape::Kind::tokens), tolerance, {0.1, std::log(300.0), 2000}, false, true};
}

/// fp32, fp16 and bf16 with the times 100, 80 and 90.
std::vector<Entrant> controls() {
  return {entrant(Role::fp32, 0.90, 100), entrant(Role::fp16, 0.895, 80), entrant(Role::bf16, 0.90, 90)};
}

std::vector<Entrant> with(std::vector<Entrant> list, const std::vector<Entrant>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

TEST(Judge, PrintsSpeedUpsOnlyAtMatchedQuality) {
  const auto v = judge(with(controls(), {method(0.885, 50), method(0.70, 10)}), rules());
  EXPECT_TRUE(v[0].quality_matched);
  EXPECT_THAT(v[0].seeds[0].vs_fp32, Optional(DoubleEq(1.0)));
  EXPECT_THAT(v[0].seeds[0].vs_best_dense, Optional(DoubleEq(0.8)));
  EXPECT_THAT(v[3].seeds[0].vs_fp32, Optional(DoubleEq(2.0)));
  EXPECT_THAT(v[3].seeds[0].vs_best_dense, Optional(DoubleEq(1.6)));
  EXPECT_FALSE(v[4].quality_matched);
  EXPECT_FALSE(v[4].seeds[0].vs_fp32 || v[4].seeds[0].vs_best_dense || v[4].seeds[0].to_target);
}

TEST(Judge, TheToleranceIsTwoSidedExact) {
  const auto matched = [](double quality, double tolerance) {
    return judge({entrant(Role::fp32, 0.75, 1), method(quality, 1)}, rules(tolerance))[1].quality_matched;
  };
  EXPECT_TRUE(matched(0.75 - 0.015625, 0.015625)) << "0.75 and 2^-6 are exact, so this is at the limit";
  EXPECT_FALSE(matched(0.75 - 0.0157, 0.015625));
  EXPECT_TRUE(matched(0.99, 0)) << "a better value is not a miss";
}

TEST(Judge, PerplexityIsMatchedFromAboveByItsRatio) {
  const auto v = judge({entrant(Role::fp32, 100, 10), method(101.9, 5), method(102.1, 5), method(90, 5),
                        method(std::numeric_limits<double>::infinity(), 1)},
                       text_rules());
  EXPECT_TRUE(v[1].quality_matched);
  EXPECT_FALSE(v[2].quality_matched);
  EXPECT_TRUE(v[3].quality_matched);
  EXPECT_FALSE(v[4].quality_matched);
}

TEST(Judge, OverSeedsTheMeansIntervalDecides) {
  // The lacks are 0.006, 0.010 and 0.014, with mean 0.010 and deviation 0.004. With t(2, 0.975) = 4.30265
  // (scipy.stats.t.ppf), the interval ends at 0.010 + 4.30265 x 0.004 / sqrt(3) = 0.0199366.
  const Entrant reference{Role::fp32, {{0.90, 10}, {0.92, 10}, {0.88, 10}}};
  const Entrant close{Role::method, {{0.894, 5}, {0.91, 4}, {0.866, 8}}};
  EXPECT_TRUE(judge({reference, close}, rules(0.01994))[1].quality_matched);
  EXPECT_FALSE(judge({reference, close}, rules(0.01993))[1].quality_matched);
  const auto v = judge({reference, close}, rules());
  EXPECT_THAT(v[1].seeds[0].vs_fp32, Optional(DoubleEq(2.0)));
  EXPECT_THAT(v[1].seeds[1].vs_fp32, Optional(DoubleEq(2.5)));
  EXPECT_THAT(v[1].seeds[2].vs_fp32, Optional(DoubleEq(1.25)));
}

TEST(Judge, OneSeedBelowTheToleranceMayBeNoise) {
  // With the lacks 0.021, 0, 0.001, ..., 0.001 over eight seeds, the interval of the mean ends below 0.01.
  Entrant reference{Role::fp32, {}}, noisy{Role::method, {}};
  for (const double lack : {0.021, 0.0, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001}) {
    reference.seeds.push_back({0.9, 1});
    noisy.seeds.push_back({0.9 - lack, 1});
  }
  EXPECT_TRUE(judge({reference, noisy}, rules())[1].quality_matched) << "more seeds must not make it harder to pass";
  noisy.seeds[7].quality = nan;
  EXPECT_FALSE(judge({reference, noisy}, rules())[1].quality_matched) << "a diverged seed is not noise";
}

TEST(Judge, AControlThatMissesByNoiseStaysTheOneToBeat) {
  auto list = controls();
  list[1].seeds[0].quality = 0.87;
  const auto v = judge(with(list, {method(0.90, 50)}), rules());
  EXPECT_FALSE(v[1].quality_matched);
  EXPECT_FALSE(v[1].seeds[0].vs_fp32.has_value());
  EXPECT_THAT(v[3].seeds[0].vs_best_dense, Optional(DoubleEq(1.6)));
}

TEST(Judge, TheBestDenseControlIsOneOverAllSeeds) {
  const auto v = judge({{Role::fp32, {{0.9, 10}, {0.9, 10}}},
                        {Role::fp16, {{0.9, 4}, {0.9, 9}}},
                        {Role::bf16, {{0.9, 8}, {0.9, 6}}},
                        {Role::method, {{0.9, 2}, {0.9, 3}}}},
                       rules());
  EXPECT_THAT(v[3].seeds[0].vs_best_dense, Optional(DoubleEq(2.0))) << "fp16: 13 in all";
  EXPECT_THAT(v[3].seeds[1].vs_best_dense, Optional(DoubleEq(3.0)));
}

TEST(Judge, TheBestDenseNeedsAllThreeAtTheirBestBuckets) {
  for (std::size_t left_out = 1; left_out < 3; ++left_out) {
    auto list = controls();
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(left_out));
    const auto v = judge(with(list, {method(0.90, 50)}), rules());
    EXPECT_THAT(v[2].seeds[0].vs_fp32, Optional(DoubleEq(2.0)));
    EXPECT_FALSE(v[2].seeds[0].vs_best_dense) << left_out;
  }
  auto not_swept = rules();
  not_swept.buckets_swept = false;
  EXPECT_FALSE(judge(with(controls(), {method(0.90, 50)}), not_swept)[3].seeds[0].vs_best_dense);
}

TEST(Judge, TheBoundAndDivergedReplicasNeverMatch) {
  auto diverged = method(0.95, 1);
  diverged.seeds[0].replicas_equal = false;
  const auto v = judge(with(controls(), {entrant(Role::bound, 0.95, 1), diverged}), rules());
  EXPECT_FALSE(v[3].quality_matched);
  EXPECT_FALSE(v[4].quality_matched);
}

TEST(Judge, AMissedTargetShowsNoSpeedUp) {
  auto list = with(controls(), {method(0.90, 50), method(0.90, 20)});
  const auto reach = [](Entrant& e, double time) {
    e.seeds[0].reached_target = true;
    e.seeds[0].time_to_target = time;
  };
  reach(list[0], 6);
  reach(list[3], 4);
  Rules with_target = rules();
  with_target.target = true;
  const auto v = judge(list, with_target);
  EXPECT_THAT(v[3].seeds[0].vs_fp32, Optional(DoubleEq(2.0)));
  EXPECT_THAT(v[3].seeds[0].vs_best_dense, Optional(DoubleEq(1.6))) << "fp16 missed the target and stays the best";
  EXPECT_THAT(v[3].seeds[0].to_target, Optional(DoubleEq(1.5)));
  EXPECT_TRUE(v[4].quality_matched);
  EXPECT_FALSE(v[4].seeds[0].vs_fp32 || v[4].seeds[0].vs_best_dense || v[4].seeds[0].to_target);

  list[0].seeds[0].reached_target = false;
  EXPECT_EQ(no_reference(list, with_target), "fp32 missed the target");
  EXPECT_FALSE(judge(list, with_target)[3].seeds[0].vs_fp32);
}

TEST(Judge, MoreThanHalfOfTheSeedsMustReachTheTarget) {
  Rules with_target = rules();
  with_target.target = true;
  const auto reached_by = [](Role role, double time, std::size_t count, std::size_t seeds) {
    Entrant e{role, {}};
    for (std::size_t s = 0; s < seeds; ++s) {
      e.seeds.push_back({0.9, time, true, s < count, s < count ? std::optional(time) : std::nullopt});
    }
    return e;
  };
  const auto passes = [&](std::size_t count, std::size_t seeds) {
    const auto v =
        judge({reached_by(Role::fp32, 10, seeds, seeds), reached_by(Role::method, 5, count, seeds)}, with_target);
    EXPECT_EQ(v[1].over_seeds(&SpeedUps::to_target).empty(), count < seeds) << "a mean over the lucky seeds flatters";
    return !v[1].over_seeds(&SpeedUps::vs_fp32).empty();
  };
  EXPECT_TRUE(passes(1, 1) && passes(2, 3) && passes(4, 5) && passes(8, 8));
  EXPECT_FALSE(passes(0, 1) || passes(1, 2) || passes(1, 3) || passes(2, 4));
  EXPECT_EQ(no_reference({reached_by(Role::fp32, 10, 3, 5)}, with_target), "");
  EXPECT_EQ(no_reference({reached_by(Role::fp32, 10, 2, 4)}, with_target), "fp32 missed the target");
}

TEST(Judge, AReferenceThatHasLearnedNothingIsNone) {
  // With 0.1 by chance and a tolerance of 0.02, an accuracy of 0.2 is needed.
  for (const auto& [quality, learned] : {std::pair{0.10, false}, {0.1999, false}, {0.2001, true}}) {
    const std::vector<Entrant> list{entrant(Role::fp32, quality, 3), method(quality, 2)};
    EXPECT_EQ(no_reference(list, rules()).empty(), learned) << quality;
    EXPECT_EQ(judge(list, rules())[1].quality_matched, learned) << quality;
    EXPECT_EQ(judge(list, rules())[1].seeds[0].vs_fp32.has_value(), learned) << quality;
  }
  EXPECT_THAT(no_reference({entrant(Role::fp32, 0.1, 1)}, rules()), HasSubstr("is 10.0 %"));
  const Entrant diverged{Role::fp32, {{0.9, 1}, {nan, 1, true, false, {}, 812}}};
  EXPECT_EQ(no_reference({diverged}, rules()), "fp32 diverged at step 812");
  // With 30 test samples, three standard errors are 3 sqrt(0.1 x 0.9 / 30) = 0.1643.
  Rules few = rules(0);
  few.trivial.count = 30;
  EXPECT_FALSE(no_reference({entrant(Role::fp32, 0.264, 1)}, few).empty());
  EXPECT_TRUE(no_reference({entrant(Role::fp32, 0.265, 1)}, few).empty());
  // With a perplexity of 300 without input, 300 / 1.02^5 = 271.72 is needed.
  EXPECT_FALSE(no_reference({entrant(Role::fp32, 271.8, 1)}, text_rules()).empty());
  EXPECT_TRUE(no_reference({entrant(Role::fp32, 271.6, 1)}, text_rules()).empty());
  // Every seed must have learned.
  EXPECT_FALSE(no_reference({{Role::fp32, {{0.9, 1}, {0.1, 1}}}}, rules()).empty());
  Rules with_target = rules();
  with_target.target = true;
  auto reached = entrant(Role::fp32, 0.15, 1);
  reached.seeds[0].reached_target = true;
  EXPECT_EQ(no_reference({reached}, with_target), "") << "the target of the job says what is enough";
}

TEST(Judge, WithoutAReferenceNothingMatches) {
  EXPECT_EQ(no_reference({method(0.9, 1)}, rules()), "the job has no fp32 without options");
  EXPECT_FALSE(judge({method(0.9, 1)}, rules())[0].quality_matched);
  const auto v = judge({entrant(Role::fp32, nan, 1), method(0.9, 1)}, rules());
  EXPECT_FALSE(v[1].quality_matched);
  EXPECT_FALSE(v[1].seeds[0].vs_fp32);
}

TEST(Metric, IsOfTheKindOfTheTask) {
  const nn::Loss loss{4 * std::log(50.0), 3, 4};
  const Metric accuracy;
  for (const auto kind : {InputShape::Kind::images, InputShape::Kind::frames}) {
    EXPECT_EQ(Metric(kind).name, "accuracy");
    EXPECT_EQ(Metric(kind).of(loss), 0.75);
    EXPECT_EQ(Metric(kind).text(0.75), "75.0 %");
  }
  const Metric perplexity(InputShape::Kind::tokens);
  EXPECT_EQ(perplexity.name, "perplexity");
  EXPECT_NEAR(perplexity.of(loss), 50, 1e-12);
  EXPECT_EQ(perplexity.rule(0.02), "the perplexity is at most fp32's x 1.02");
  EXPECT_FALSE(perplexity.reaches(nan, 60) || accuracy.reaches(nan, 0));
  EXPECT_DOUBLE_EQ(accuracy.lack(0.8, 0.9), 0.9 - 0.8);
  EXPECT_DOUBLE_EQ(perplexity.lack(50, 100), -std::log(2.0));
  EXPECT_NEAR(perplexity.limit(0.05), std::log(1.05), 1e-15);
  EXPECT_EQ(accuracy.of(Trivial{0.25, 1, 4}), 0.25);
  EXPECT_DOUBLE_EQ(perplexity.of(Trivial{0.25, std::log(7.0), 4}), 7);
}

}  // namespace
}  // namespace gradcomp::train
