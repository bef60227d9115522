#include "gradcomp/train/crossover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradcomp::train {
namespace {

/// The verdict of a method at one rate, with a speed-up for each seed.
Verdict verdict(const std::vector<double>& speedups) {
  Verdict v{true, {}};
  for (const double speed : speedups) v.seeds.push_back({2.0, speed, {}});
  return v;
}

TEST(LastRateThatPays, IsInterpolatedOnLogarithms) {
  // 2x at 100 and 1/2 at 400: the crossing is halfway between the logarithms, at 200.
  EXPECT_NEAR(last_rate_that_pays({100, 400}, {2, 0.5}), 200, 1e-9);
  // 4x at 100 and 1/2 at 800: the crossing is at two thirds of ln 8, 100 x 8^(2/3) = 400.
  EXPECT_NEAR(last_rate_that_pays({100, 800}, {4, 0.5}), 400, 1e-9);
  EXPECT_EQ(last_rate_that_pays({100, 400}, {0.9, 0.5}), 0);
  EXPECT_EQ(last_rate_that_pays({100, 400}, {0.9, 1.1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(last_rate_that_pays({100}, {1}), 0) << "equally fast is not faster";
  EXPECT_NEAR(last_rate_that_pays({1, 10, 100, 400}, {2, 0.9, 2, 0.5}), 200, 1e-9) << "the highest crossing counts";
}

TEST(Crossover, OfOneSeedHasNoInterval) {
  const auto c = crossover({400e6, 100e6}, {verdict({0.5}), verdict({2})});
  EXPECT_EQ(c.kind, Crossover::Kind::below);
  EXPECT_NEAR(c.bits_per_second, 200e6, 1);
  EXPECT_FALSE(c.low || c.high);
  EXPECT_EQ(c.text(), "pays below 200 Mbit/s");
}

TEST(Crossover, OverSeedsIsAMeanOfLogarithms) {
  // The crossings are at 200 and at 400 (4x, 1/4 at 1600), and the mean of the logarithms is that of 282.8. With
  // t(1, 0.975) = 12.7062 (scipy.stats.t.ppf) and a deviation of the logarithms of ln 2 / sqrt 2, which is divided by
  // sqrt 2, half of the width is 12.7062 x ln 2 / 2 = 4.4036.
  const auto c =
      crossover({100e6, 400e6, 1600e6}, {verdict({2, 4}), verdict({0.5, 1.0000000001}), verdict({0.1, 0.25})});
  EXPECT_EQ(c.kind, Crossover::Kind::below);
  EXPECT_NEAR(c.bits_per_second, std::sqrt(200e6 * 400e6), 1e3);
  EXPECT_NEAR(std::log(*c.high / c.bits_per_second), 4.4036, 1e-3);
  EXPECT_NEAR(std::log(c.bits_per_second / *c.low), 4.4036, 1e-3);
  EXPECT_THAT(c.text(), testing::StartsWith("pays below 283 Mbit/s ("));
}

TEST(Crossover, SaysWhereThereIsNone) {
  EXPECT_EQ(crossover({1e6, 2e6}, {verdict({0.5, 0.51}), verdict({0.4, 0.4})}).text(), "pays at no rate swept");
  EXPECT_EQ(crossover({1e6, 2e6}, {verdict({2, 2.01}), verdict({1.3, 1.31})}).text(), "pays at every rate swept");
  Verdict missed{false, {{}}};
  EXPECT_EQ(crossover({1e6, 2e6}, {verdict({2}), missed}).text(), "-") << "there is no answer without a speed-up";
}

TEST(Crossover, EndsWhereTheEndsOfTheSpeedUpsCrossIfSomeSeedDoesNot) {
  // At 400 the speed-ups 0.97 and 1.01 have the mean 0.99 and, with t(1, 0.975) = 12.7062, half a width of
  // 12.7062 x 0.02 = 0.254. The mean crosses at 100 x 4^(ln 2 / ln (2 / 0.99)) = 392.1, the lower end, 0.7359, at
  // 100 x 4^(ln 2 / ln (2 / 0.7359)) = 261.4, and the upper end, 1.244, at none of these rates.
  const auto c = crossover({100e6, 400e6}, {verdict({2, 2}), verdict({0.97, 1.01})});
  EXPECT_EQ(c.kind, Crossover::Kind::below);
  EXPECT_NEAR(c.bits_per_second, 392.1e6, 1e5);
  EXPECT_NEAR(c.low.value(), 261.4e6, 1e5);
  EXPECT_EQ(c.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(c.text(), "pays below 392 Mbit/s (261 to beyond 400)");
  // 0.7 and 1.1 have the mean 0.9, and the lower end is below 0: then it crosses at the rate before it.
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({2, 2}), verdict({0.7, 1.1})}).text(),
            "pays below 333 Mbit/s (100 to beyond 400)");
  // 0.9 and 1.3 at the lowest rate: not for certain.
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({0.9, 1.3}), verdict({0.5, 0.5})}).low, 0);
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({0.9, 1.3}), verdict({0.5, 0.5})}).text(),
            "pays below 118 Mbit/s (less than 100 to 247)");
}

TEST(Crossover, SaysUpToWhichRateItIsCertainOrPossible) {
  // 0.9 and 1.3 have the mean 1.1, and the interval reaches from below 0 to 3.64.
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({2, 2}), verdict({0.9, 1.3})}).text(),
            "pays at every rate swept by its mean, for certain below 100 Mbit/s");
  EXPECT_EQ(crossover({100e6}, {verdict({0.9, 1.3})}).text(), "pays at every rate swept by its mean, not for certain");
  EXPECT_EQ(crossover({100e6}, {verdict({0.9, 1.0})}).text(), "pays at no rate swept, open at some rates");
  // 0.9 and 1.3 at the lower rate, and 2 for certain at the higher one.
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({0.9, 1.3}), verdict({2, 2})}).text(),
            "pays at every rate swept by its mean, not for certain");
  // 0.9 +- 12.7062 x 0.1 ends at 2.1706 at 100, and 0.5 at 400: 100 x 4^(ln 2.1706 / ln (2.1706 / 0.5)) = 207.8.
  EXPECT_EQ(crossover({100e6, 400e6}, {verdict({0.8, 1.0}), verdict({0.5, 0.5})}).text(),
            "pays at no rate swept, perhaps below 208 Mbit/s");
}

}  // namespace
}  // namespace gradcomp::train
