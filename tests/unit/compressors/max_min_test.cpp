// max_min: unbiased with the analytic variance, within the bound of its header, degenerate groups, sizes, bytes.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace max_min_test {

double range_of(const Floats& x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  return static_cast<double>(*high) - *low;
}

TEST(MaxMin, IsUnbiasedWithTheAnalyticVariance) {
  const Floats x = normal_values(512, 1);
  const double low = *std::min_element(x.begin(), x.end());
  for (const auto& [bits, levels] : {std::pair{"1", 1}, std::pair{"3", 7}, std::pair{"4", 15}, std::pair{"8", 255}}) {
    const double unit = range_of(x) / levels;
    Rig rig("max_min", {{"bits", bits}}, Layout::flat(512));
    expect_moments(
        rig, {x},
        [&](std::size_t i) {
          const double q = std::floor((x[i] - low) / unit * (1 + 1e-9));
          return between(x[i], low + q * unit, low + (q + 1) * unit);
        },
        400);
  }
}

TEST(MaxMin, NearestIsNoFurtherThanHalfAUnit) {
  for (const auto& [bits, levels] : {std::pair{"2", 3}, std::pair{"8", 255}}) {
    expect_sizes("max_min", {{"bits", bits}, {"rounding", "nearest"}, {"group", "tensor"}}, range_of,
                 [levels = levels](double range, double x) { return 0.5001 * range / levels + 2e-7 * x; });
  }
}

TEST(MaxMin, SizesAndBytes) {
  for (const auto& [bits, levels] : {std::pair{"1", 1}, std::pair{"3", 7}, std::pair{"8", 255}}) {
    expect_sizes("max_min", {{"bits", bits}, {"group", "256"}}, range_of,
                 [levels = levels](double range, double) { return 1.0001 * range / levels; });
  }
  Rig rig("max_min", {}, Layout::flat(1));
  // ResNet-18 in groups of 512: two floats for each group, and 4 bits for each element
  EXPECT_EQ(rig.method->payload_bytes(Layout::flat(11173962), 0), 8 * 21825 + 5586981);
}

TEST(MaxMin, EqualElementsAreExact) {
  for (const float value : {-0.37f, 1e30f, -std::numeric_limits<float>::max(), 1e-42f}) {
    for (const char* rounding : {"stochastic", "nearest"}) {
      Rig rig("max_min", {{"rounding", rounding}}, Layout::flat(1300));
      EXPECT_EQ(rig.step(Floats(1300, value)), Floats(1300, value));
    }
  }
}

TEST(MaxMin, EndsOfTheRangeAreExact) {
  const float huge = std::numeric_limits<float>::max();
  for (const auto& [low, high] : {std::pair{-1.5f, 7.0f}, std::pair{-huge, huge}, std::pair{0.0f, 3.5f}}) {
    Floats x(512, low);
    x[77] = high;
    for (const char* bits : {"1", "8"}) {
      Rig rig("max_min", {{"bits", bits}}, Layout::flat(512));
      EXPECT_EQ(rig.step(x), x) << low;  // zeros stay zeros, also if only one element is not zero
    }
  }
}

TEST(MaxMin, VarianceIsWithinTheBound) {
  for (const char* bits : {"2", "4"}) {
    const int levels = bits[0] == '2' ? 3 : 15;
    Floats x(512, 0);  // the worst case: both ends are far away, and zeros lie between two levels
    x[0] = 1;
    x[1] = -1;
    Rig rig("max_min", {{"bits", bits}}, Layout::flat(512));
    double error = 0;
    for (int t = 0; t < 50; ++t) {
      const Floats d = rig.step(x, t);
      for (std::size_t i = 0; i < d.size(); ++i) error += std::pow(static_cast<double>(d[i]) - x[i], 2) / 50;
    }
    const double w = 512.0 / (2 * levels * levels);
    EXPECT_LE(error, w * 2);
    EXPECT_GE(error, 0.95 * w * 2 * 510 / 512);  // the bound is tight
  }
}

TEST(MaxMin, ScalesUnderAResidual) {
  const Floats x = normal_values(512, 3);
  Rig rig("max_min", {{"bits", "8"}}, Layout::flat(512));
  rig.memories[0].assign(512, 0);
  const Floats d = rig.step(x);
  const double w = 512.0 / (2 * 255.0 * 255), unit = range_of(x) / 255;
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(d[i], x[i] / (1 + w), unit) << i;
  const auto top = static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  EXPECT_NEAR(d[top] / x[top], 1 / (1 + w), 1e-6);
  expect_telescoping("max_min", {});
}

TEST(MaxMin, RefusesAFeedbackThatMayDiverge) {
  for (const Given& given : {Given{{"rounding", "nearest"}}, Given{{"scale", "none"}}}) {
    Rig rig("max_min", given, Layout::flat(600));
    rig.memories[0].assign(600, 0);
    EXPECT_THROW(rig.step(Floats(600, 1)), Error);
  }
  Rig fine("max_min", {{"rounding", "nearest"}, {"bits", "8"}}, Layout::flat(600));
  fine.memories[0].assign(600, 0);
  EXPECT_NO_THROW(fine.step(Floats(600, 1)));
}

TEST(MaxMin, SurvivesExtremesAndRefusesHostilePayloads) {
  for (const char* bits : {"1", "4", "8"}) expect_extremes("max_min", {{"bits", bits}}, 1);
  expect_hostile("max_min", {}, [](Bytes& bytes, index_t variant) {
    const float bad[] = {NAN, INFINITY, 100};  // 100: low above high
    std::memcpy(bytes.data() + payload_header_bytes, &bad[variant], 4);
  });
}

}  // namespace max_min_test
}  // namespace gradcomp::quantisers
