// Natural compression: unbiased with the analytic variance, exact powers of two, ends of the range, sizes, bytes.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace natural_test {

/// Mean and variance of an element in the range of normal floats.
Expected powers(float x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double low = std::ldexp(1.0, exponent - 1), a = std::abs(static_cast<double>(x));
  Expected e = between(a, low, 2 * low);
  e.mean = x;
  return e;
}

TEST(Natural, IsUnbiasedWithTheAnalyticVariance) {
  for (const char* bits : {"8", "9"}) {
    Floats x = normal_values(512, 1);
    x[3] = 0.25f;
    x[4] = -1024;
    x[5] = 0;
    Rig rig("natural", {{"bits", bits}}, Layout::flat(512));
    expect_moments(rig, {x}, [&](std::size_t i) { return x[i] == 0 ? Expected{0, 0, 0} : powers(x[i]); }, 400);
  }
}

// With 16 random bits, a mantissa of 2^-18 + 2^-20 would round up 0 or 1 times in 2^16. All 23 bits must count.
TEST(Natural, AllMantissaBitsCount) {
  const index_t n = index_t{1} << 22;
  const Floats x(static_cast<std::size_t>(n), 1 + 0x1p-18f + 0x1p-20f);
  Rig rig("natural", {}, Layout::flat(n));
  double ups = 0;
  for (int t = 0; t < 4; ++t) {
    const Floats d = rig.step(x, t);
    ups += static_cast<double>(std::count(d.begin(), d.end(), 2.0f));
  }
  const double expected = 4.0 * static_cast<double>(n) * (0x1p-18 + 0x1p-20);
  EXPECT_NEAR(ups, expected, 6 * std::sqrt(expected));
}

TEST(Natural, ErrorIsAnEighthAtMost) {
  const Floats x(60000, 4.0f / 3);  // with mantissa 1/3, the error reaches 1/8
  Rig rig("natural", {}, Layout::flat(60000));
  const Floats d = rig.step(x);
  double error = 0;
  for (const float v : d) error += (v - 4.0 / 3) * (v - 4.0 / 3) / (16.0 / 9);
  EXPECT_NEAR(error / 60000, 0.125, 0.002);  // E||C(x) - x||^2 <= w ||x||^2 holds with w = 1/8 (5 sigma)
  const Floats gauss = normal_values(100000, 5);
  double variance = 0;
  for (const float v : gauss) variance += powers(v).variance;
  EXPECT_NEAR(variance / std::pow(norm_of(gauss), 2), 0.0816, 0.001);  // E||C(x)||^2 / ||x||^2 - 1
  Rig other("natural", {}, Layout::flat(100000));
  EXPECT_NEAR(std::pow(norm_of(other.step(gauss)) / norm_of(gauss), 2), 1.0816, 0.02);  // 6 sigma
}

TEST(Natural, PowersOfTwoAreExactOverTheWholeRange) {
  for (const auto& [bits, low, high] : {std::tuple{"8", -108, 18}, std::tuple{"9", -126, 127}}) {
    Floats x;
    for (int e = low; e <= high; ++e) {
      x.push_back(std::ldexp(1.0f, e));
      x.push_back(-std::ldexp(1.0f, e));
    }
    Rig rig("natural", {{"bits", bits}}, Layout::flat(static_cast<index_t>(x.size())));
    EXPECT_EQ(rig.step(x), x);
  }
}

TEST(Natural, SaturatesAboveAndRoundsToZeroBelow) {
  Rig rig("natural", {}, Layout::flat(3));
  EXPECT_EQ(rig.step({300000, -3e38f, 262145}), (Floats{0x1p18f, -0x1p18f, 0x1p18f}));
  Rig nine("natural", {{"bits", "9"}}, Layout::flat(2));
  EXPECT_EQ(nine.step({3e38f, -std::numeric_limits<float>::max()}), (Floats{0x1p127f, -0x1p127f}));
  for (const auto& [bits, smallest] : {std::pair{"8", 0x1p-108f}, std::pair{"9", 0x1p-126f}}) {
    const Floats x(40000, -0.25f * smallest);
    Rig small("natural", {{"bits", bits}}, Layout::flat(40000));
    double ups = 0;
    for (const float v : small.step(x)) {
      ASSERT_TRUE(v == 0 || v == -smallest) << v;
      ASSERT_FALSE(v == 0 && std::signbit(v));
      ups += v != 0;
    }
    EXPECT_NEAR(ups, 10000, 6 * std::sqrt(7500));
  }
}

TEST(Natural, SizesAndBytes) {
  for (const char* bits : {"8", "9"}) {
    expect_sizes("natural", {{"bits", bits}}, largest_of, [](double, double x) { return x; });
  }
  Rig rig("natural", {}, Layout::flat(1));
  EXPECT_EQ(rig.method->payload_bytes(Layout::flat(11173962), 0), 11173962);  // ResNet-18
  Rig nine("natural", {{"bits", "9"}}, Layout::flat(1));
  EXPECT_EQ(nine.method->payload_bytes(Layout::flat(1001), 0), 1127);
}

TEST(Natural, NeighboursDoNotMatter) {
  Floats x = normal_values(5000, 3), y(x);
  for (std::size_t i = 0; i < x.size(); i += 2) y[i] *= 1e-3f;
  Rig rig("natural", {}, Layout::flat(5000));
  const Floats d = rig.step(x, 4), e = rig.step(y, 4);
  for (std::size_t i = 1; i < x.size(); i += 2) ASSERT_EQ(d[i], e[i]);
}

TEST(Natural, TelescopesAndSurvivesExtremes) {
  expect_telescoping("natural", {});
  expect_extremes("natural", {}, 2);
  expect_extremes("natural", {{"bits", "9"}}, 2);
}

TEST(Natural, RefusesHostilePayloads) {
  expect_hostile("natural", {{"bits", "9"}}, [](Bytes& bytes, index_t variant) {
    if (variant == 0) bytes.pop_back();
    if (variant == 1) {  // exponent 255 is infinity; in a word and in a tail
      bytes[payload_header_bytes] = std::byte{0xff};
      bytes[payload_header_bytes + 1] = std::byte{0};
    }
    if (variant == 2) bytes[bytes.size() - 4] = std::byte{0xff}, bytes[bytes.size() - 3] = std::byte{0};
  });
}

}  // namespace natural_test
}  // namespace gradcomp::quantisers
