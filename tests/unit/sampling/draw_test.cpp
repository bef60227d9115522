// Compares probabilities, weights and draws of importance sampling with numbers computed by hand and by enumeration.
#include "gradcomp/sampling/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::sampling {
namespace draw_test {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
using Losses = std::vector<float>;

TEST(MeanOfFinite, LeavesTheOthersOut) {
  EXPECT_EQ(mean_of_finite(Losses{1, nan, 3, infinity}), 2);
  EXPECT_TRUE(std::isnan(mean_of_finite(Losses{nan})));
  EXPECT_TRUE(std::isnan(mean_of_finite({})));
}

TEST(Probabilities, FollowTheLossesAndTheirBase) {
  EXPECT_THAT(probabilities(Losses{1, 3}, 0), ElementsAre(0.25, 0.75));
  EXPECT_THAT(probabilities(Losses{1, 3}, 2), ElementsAre(0.375, 0.625));
}

TEST(Probabilities, AreEqualWhereNoLossTellsSamplesApart) {
  EXPECT_THAT(probabilities(Losses{2, 2, 2, 2}, 0.7), Each(DoubleEq(0.25)));
  EXPECT_THAT(probabilities(Losses{0, 0, 0, 0}, 0), Each(0.25));
  EXPECT_THAT(probabilities(Losses{nan, nan}, 1), Each(0.5));
  EXPECT_THAT(probabilities(Losses{5}, 0), ElementsAre(1.0));
  EXPECT_TRUE(probabilities({}, 1).empty());
}

TEST(Probabilities, DropSamplesWhoseLossIsNotFinite) {
  EXPECT_THAT(probabilities(Losses{1, nan, 3, infinity}, 0), ElementsAre(0.25, 0, 0.75, 0));
  EXPECT_THAT(probabilities(Losses{0, nan, 0}, 0), ElementsAre(0.5, 0, 0.5));
}

TEST(Probabilities, AreNeverBelowTheirBaseShare) {
  const double base = 0.5 * 2.0;  // half of the mean loss, which is 2
  const auto p = probabilities(Losses{0, 1e-38F, 5, 3}, base);
  for (const double x : p) EXPECT_GE(x, base / (8 + 4 * base) * (1 - 1e-12));
}

/// The expected value of weight x g over one draw is the mean of g over the samples that are not dropped.
TEST(Weights, MakeTheEstimateUnbiased) {
  data::CounterRng rng(3);
  for (const std::size_t n : {1U, 2U, 3U, 17U, 320U}) {
    Losses losses(n);
    std::vector<double> g(n);
    double mean = 0;
    index_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      losses[i] = i % 5 == 4 ? nan : std::exp(4 * rng.unit() - 2);
      g[i] = static_cast<double>(rng.unit()) - 0.3;
      if (std::isnan(losses[i])) continue;
      mean += g[i];
      ++kept;
    }
    mean /= static_cast<double>(kept);
    const auto p = probabilities(losses, 0.4);
    const auto w = unbiased_weights(p, losses);
    double expected = 0, total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      expected += p[i] * static_cast<double>(w[i]) * g[i];
      total += p[i];
    }
    EXPECT_NEAR(total, 1, 1e-12);
    EXPECT_NEAR(expected, mean, 1e-6) << n << " samples";
  }
}

TEST(Weights, AreOneForEqualProbabilities) {
  const Losses losses{2, 2, 2};
  EXPECT_THAT(unbiased_weights(probabilities(losses, 1), losses), Each(testing::FloatEq(1)));
}

TEST(Draw, GivesPlantedHardSamplesTheirShare) {
  constexpr index_t draws = 20000;
  Losses losses(200, 0.1F);
  for (std::size_t i = 0; i < 10; ++i) losses[20 * i] = 2;
  const auto p = probabilities(losses, 0.1);
  const double share = 10 * 2.1 / (10 * 2.1 + 190 * 0.2);  // 0.356 by hand; uniform draws give 0.05
  index_t hard = 0;
  for (const index_t i : draw(p, draws, 7, 0, 0)) hard += i % 20 == 0 ? 1 : 0;
  const double deviation = std::sqrt(share * (1 - share) / draws);
  EXPECT_NEAR(static_cast<double>(hard) / draws, share, 4 * deviation);
}

TEST(Draw, NeverTakesADroppedSample) {
  const auto p = probabilities(Losses{nan, 1, nan, 2, nan}, 0.5);
  for (const index_t i : draw(p, 1000, 1, 5, 2)) EXPECT_TRUE(i == 1 || i == 3) << i;
}

TEST(Draw, IsAFunctionOfSeedStepAndRank) {
  const auto p = probabilities(Losses(100, 1.0F), 0);
  const auto once = draw(p, 32, 1, 2, 3);
  EXPECT_EQ(draw(p, 32, 1, 2, 3), once);
  EXPECT_NE(draw(p, 32, 2, 2, 3), once);
  EXPECT_NE(draw(p, 32, 1, 3, 3), once);
  EXPECT_NE(draw(p, 32, 1, 2, 4), once);
  EXPECT_ANY_THROW(draw({}, 1, 1, 1, 1));
}

}  // namespace draw_test
}  // namespace gradcomp::sampling
