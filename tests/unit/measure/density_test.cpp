// The monitor of densities: statistics by hand, and when it fails a run.
#include "gradcomp/measure/density.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace gradcomp {
namespace density_test {

TEST(Density, StatisticsByHand) {
  const DensityStatistics s({0.5, 1.0, 1.5, 3.0});
  EXPECT_EQ(s.count, 4);
  EXPECT_DOUBLE_EQ(s.mean, 1.5);
  EXPECT_DOUBLE_EQ(s.std, std::sqrt((1.0 + 0.25 + 0 + 2.25) / 4));
  EXPECT_DOUBLE_EQ(s.rms, std::sqrt((0.25 + 0 + 0.25 + 4.0) / 4));
  EXPECT_DOUBLE_EQ(s.p50, 1.25);
  EXPECT_DOUBLE_EQ(s.p5, 0.575);
  EXPECT_DOUBLE_EQ(s.p95, 2.775);
  EXPECT_DOUBLE_EQ(s.max, 3.0);
}

TEST(Density, NoSamplesIsNaN) {
  const DensityStatistics s({});
  EXPECT_EQ(s.count, 0);
  for (const double value : {s.mean, s.std, s.rms, s.p5, s.p50, s.p95, s.max}) EXPECT_TRUE(std::isnan(value));
}

TEST(Density, FailureNamesMethodStatisticAndLimits) {
  const std::vector<double> ratios = {0.9, 1.3, 1.3};
  EXPECT_EQ(density_failure("m", ratios, 0), std::nullopt) << "off";
  EXPECT_EQ(density_failure("m", std::vector<double>{}, 0.1), std::nullopt) << "no target";
  EXPECT_EQ(density_failure("m", ratios, 0.31), std::nullopt);
  const auto line = density_failure("m", ratios, 0.25);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(*line,
            "method 'm': the median of achieved / target density over 3 tensor-steps is 1.3; allowed: 0.75 to 1.25 "
            "(--density-tolerance)");
  EXPECT_NE(density_failure("m", std::vector<double>{0.5}, 0.25), std::nullopt) << "too few entries are a failure too";
}

TEST(Density, OneRankOutsideIsEnough) {
  EXPECT_EQ(density_failure("m", DensityMedian{0.9, 1.1, 4}, 0.2), std::nullopt);
  // 1/4 is exact in binary. The limits themselves are allowed, and values beyond them are not.
  EXPECT_EQ(density_failure("m", DensityMedian{0.75, 1.25, 4}, 0.25), std::nullopt);
  EXPECT_NE(density_failure("m", DensityMedian{0.7499, 1.0, 4}, 0.25), std::nullopt);
  EXPECT_NE(density_failure("m", DensityMedian{1.0, 1.2501, 4}, 0.25), std::nullopt);
  EXPECT_EQ(density_failure("m", DensityMedian{0.0, 9.0, 0}, 0.25), std::nullopt)
      << "there is no verdict without samples";
  EXPECT_EQ(density_failure("m", DensityMedian{0.0, 9.0, 4}, -1), std::nullopt) << "off";
  const auto low = density_failure("m", DensityMedian{0.5, 1.1, 4}, 0.2);
  ASSERT_TRUE(low.has_value());
  EXPECT_THAT(*low, testing::HasSubstr("is 0.5;"));
  const auto high = density_failure("m", DensityMedian{0.9, 1.5, 4}, 0.2);
  ASSERT_TRUE(high.has_value());
  EXPECT_THAT(*high, testing::HasSubstr("is 1.5;"));
}

}  // namespace density_test
}  // namespace gradcomp
