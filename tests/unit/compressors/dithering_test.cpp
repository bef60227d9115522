// linear_dithering and natural_dithering: unbiased with the analytic variance, within the bounds of their headers.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace dithering_test {

double norm_by(const Floats& x, const std::string& norm) { return norm == "max" ? largest_of(x) : norm_of(x); }

/// The two levels next to |x|.
Expected linear_levels(double x, double v, int levels) {
  const double step = v / levels, q = std::floor(std::abs(x) / step * (1 - 1e-9));
  Expected e = between(std::abs(x), q * step, (q + 1) * step);
  e.mean = x;
  return e;
}
Expected power_levels(double x, double v, int levels) {
  double low = 0, high = std::ldexp(v, 1 - levels);
  while (std::abs(x) > high * (1 + 1e-9)) low = high, high *= 2;
  Expected e = between(std::abs(x), low, high);
  e.mean = x;
  return e;
}

TEST(LinearDithering, IsUnbiasedWithTheAnalyticVariance) {
  const Floats x = normal_values(512, 1);
  for (const auto& [levels, norm] :
       {std::pair{1, "max"}, std::pair{7, "l2"}, std::pair{20, "max"}, std::pair{127, "l2"}}) {
    Rig rig("linear_dithering", {{"levels", std::to_string(levels)}, {"norm", norm}}, Layout::flat(512));
    const double v = norm_by(x, norm);
    expect_moments(rig, {x}, [&](std::size_t i) { return linear_levels(x[i], v, levels); }, 350);
  }
}

TEST(NaturalDithering, IsUnbiasedWithTheAnalyticVariance) {
  const Floats x = normal_values(512, 1);
  for (const auto& [levels, norm] :
       {std::pair{1, "max"}, std::pair{3, "max"}, std::pair{7, "l2"}, std::pair{127, "max"}}) {
    Rig rig("natural_dithering", {{"levels", std::to_string(levels)}, {"norm", norm}}, Layout::flat(512));
    const double v = norm_by(x, norm);
    expect_moments(rig, {x}, [&](std::size_t i) { return power_levels(x[i], v, levels); }, 350);
  }
}

TEST(Dithering, SizesAndBytes) {
  for (const char* levels : {"1", "3", "12", "50", "127"}) {
    for (const char* bucket : {"tensor", "512"}) {
      expect_sizes("linear_dithering", {{"levels", levels}, {"group", bucket}, {"norm", "l2"}}, norm_of,
                   [&](double v, double) { return v / std::stoi(levels) * 1.0001; });
    }
    expect_sizes("natural_dithering", {{"levels", levels}}, largest_of,
                 [&](double v, double x) { return std::max(x, std::ldexp(v, 1 - std::stoi(levels)) * 1.0001); });
  }
  Rig rig("linear_dithering", {}, Layout::flat(1));
  EXPECT_EQ(rig.method->payload_bytes(Layout{}.add("a", {1000}).add("b", {0}).add("c", {3}), 0), 1003 + 8);
  Rig four("natural_dithering", {{"group", "512"}}, Layout::flat(1));
  EXPECT_EQ(four.method->payload_bytes(Layout::flat(1001), 0), 501 + 8);
}

TEST(Dithering, OneElementHoldsTheNorm) {
  for (const char* name : {"linear_dithering", "natural_dithering"}) {
    for (const char* norm : {"max", "l2"}) {
      for (const char* levels : {"1", "7", "127"}) {
        Floats x(3000, 0);
        x[1234] = -0.3f;
        Rig rig(name, {{"norm", norm}, {"levels", levels}}, Layout::flat(3000));
        const Floats d = rig.step(x);
        for (std::size_t i = 0; i < d.size(); ++i) ASSERT_NEAR(d[i], x[i], 3e-8) << name << norm << levels;
      }
    }
  }
}

// E||x - C(x) / (1 + w)||^2 <= w / (1 + w) ||x||^2 with the scale that a residual brings
TEST(Dithering, ScaledByTheVarianceItIsAContraction) {
  struct Case {
    const char *name, *levels, *norm;
    double w;
  };
  const double n = 4000;
  for (const Case& c :
       {Case{"linear_dithering", "1", "l2", std::sqrt(n)}, Case{"linear_dithering", "7", "max", std::sqrt(n) / 7},
        Case{"linear_dithering", "127", "max", n / (4 * 127 * 127)},
        Case{"natural_dithering", "3", "max", 0.125 + std::sqrt(n) / 4},
        Case{"natural_dithering", "7", "l2", 0.125 + n / 16384}}) {
    Rig rig(c.name, {{"levels", c.levels}, {"norm", c.norm}}, Layout::flat(4000));
    const Floats x = normal_values(4000, 6);
    double error = 0;
    for (int t = 0; t < 20; ++t) {
      rig.memories[0].assign(4000, 0);
      rig.step(x, t);
      error += std::pow(norm_of(rig.memories[0]), 2) / 20;
    }
    EXPECT_LE(error, c.w / (1 + c.w) * std::pow(norm_of(x), 2)) << c.name << c.levels;
    rig.memories[0].assign(4000, 0);
    Floats hot(4000, 0);
    hot[7] = 5;
    EXPECT_NEAR(rig.step(hot)[7], 5 / (1 + c.w), 1e-5);
  }
}

TEST(Dithering, RefusesAFeedbackThatMayDiverge) {
  for (const char* name : {"linear_dithering", "natural_dithering"}) {
    Rig rig(name, {{"levels", "1"}, {"scale", "none"}}, Layout::flat(600));
    rig.memories[0].assign(600, 0);
    EXPECT_THROW(rig.step(Floats(600, 1)), Error);
    expect_telescoping(name, {});
  }
}

TEST(Dithering, SurvivesExtremesAndRefusesHostilePayloads) {
  for (const char* name : {"linear_dithering", "natural_dithering"}) {
    for (const char* levels : {"1", "7", "127"}) expect_extremes(name, {{"levels", levels}}, 1.000002);
    expect_extremes(name, {{"norm", "l2"}, {"bits", "4"}}, 30);
    expect_hostile(name, {{"bits", "4"}}, [](Bytes& bytes, index_t variant) {
      const float bad[] = {NAN, -1};
      if (variant < 2) std::memcpy(bytes.data() + payload_header_bytes + 4 * variant, &bad[variant], 4);
      if (variant == 2) bytes[payload_header_bytes + 12] = std::byte{0xff};  // code 15 of 0..14
    });
  }
}

TEST(Dithering, KeysDependOnRankStepAndSegment) {
  Layout layout;
  layout.add("a", {4096}).add("b", {4096});
  Rig rig("linear_dithering", {{"bits", "3"}}, layout);
  Floats x = normal_values(4096, 8);
  x.insert(x.end(), x.begin(), x.end());
  const Floats base = rig.step(x, 1);
  EXPECT_EQ(base, rig.step(x, 1));
  EXPECT_NE(base, rig.step(x, 2));
  EXPECT_NE(Floats(base.begin(), base.begin() + 4096), Floats(base.begin() + 4096, base.end()));
  Rig two("linear_dithering", {{"bits", "3"}}, layout, 2);
  two.step({x, x}, 1);
  EXPECT_NE(two.payload(0), two.payload(1));
}

}  // namespace dithering_test
}  // namespace gradcomp::quantisers
