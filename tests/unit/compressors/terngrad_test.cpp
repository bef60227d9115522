// TernGrad: unbiased for clip(x) with the analytic variance, its figures on a normal gradient, scaler sharing,
// degenerate tensors, sizes, bytes.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace terngrad_test {

double sigma_of(const Floats& x) {
  double mean = 0, squares = 0;
  for (const float v : x) mean += v / static_cast<double>(x.size());
  for (const float v : x) squares += (v - mean) * (v - mean) / static_cast<double>(x.size());
  return std::sqrt(squares);
}
double clipped(double x, double limit) { return std::clamp(x, -limit, limit); }

TEST(TernGrad, IsUnbiasedForTheClippedGradient) {
  const Floats x = normal_values(512, 1);
  for (const auto& [code, clip] : {std::pair{"sum", 0.0}, std::pair{"2bit", 1.0}, std::pair{"base3", 2.5}}) {
    const double s = clip > 0 ? clip * sigma_of(x) : largest_of(x);
    Rig rig("terngrad", {{"code", code}, {"clip", std::to_string(clip)}}, Layout::flat(512));
    const auto expected = [&x, s](std::size_t i) {
      const double a = std::abs(clipped(x[i], s));
      return Expected{clipped(x[i], s), a < s ? a * (s - a) : 0, std::min(a / s, 1 - a / s)};
    };
    expect_moments(rig, {x}, expected, 300);
  }
}

TEST(TernGrad, FiguresOnANormalGradient) {
  const Floats x = normal_values(200000, 2);
  Rig rig("terngrad", {}, Layout::flat(200000));
  const Floats d = rig.step(x);
  const double s = 2.5 * sigma_of(x);
  double cut = 0, sent = 0, bias = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    cut += std::abs(x[i]) > s;
    sent += d[i] != 0;
    bias += std::pow(x[i] - clipped(x[i], s), 2);
    ASSERT_TRUE(d[i] == 0 || std::abs(std::abs(d[i]) - s) < 1e-5);
  }
  EXPECT_NEAR(cut / 200000, 0.0124, 0.0015);
  EXPECT_NEAR(sent / 200000, 0.318, 0.006);
  EXPECT_NEAR(std::sqrt(bias) / norm_of(x), 0.049, 0.005);
}

// Every rank clips by its own sigma, and all ranks use the largest scaler.
TEST(TernGrad, RanksShareTheScaler) {
  std::vector<Floats> x;
  for (unsigned r = 0; r < 3; ++r) x.push_back(normal_values(400, 20 + r, 1 + static_cast<float>(r)));
  double shared = 0;
  for (const auto& own : x) shared = std::max(shared, 2.5 * sigma_of(own));
  Rig rig("terngrad", {}, Layout::flat(400), 3);
  expect_moments(
      rig, x,
      [&](std::size_t i) {
        Expected e{0, 0, 1};
        for (const auto& own : x) {
          const double c = clipped(own[i], 2.5 * sigma_of(own)), a = std::abs(c);
          e.mean += c / 3;
          e.variance += a * (shared - a) / 9;
          e.rare = std::min(e.rare, std::max(a / shared, 0.02));
        }
        return e;
      },
      300);
}

// what is decoded of the sum is the sum of what is decoded
TEST(TernGrad, SumsOfCodesAreSumsOfValues) {
  std::vector<Floats> x(5, normal_values(1000, 7));
  Rig rig("terngrad", {}, Layout::flat(1000), 5);
  const Floats d = rig.step(x, 3);
  const auto s = static_cast<float>(2.5 * sigma_of(x[0]));
  for (std::size_t i = 0; i < d.size(); ++i) {
    int sum = 0;
    for (const auto& message : rig.messages) sum += static_cast<const std::int8_t*>(message.data)[i];
    ASSERT_NEAR(d[i], s * static_cast<float>(sum) / 5, 1e-5) << i;
  }
}

TEST(TernGrad, TensorsWithoutDeviationAreExact) {
  for (const char* code : {"sum", "2bit", "base3"}) {
    for (const float value : {-0.37f, 1e30f, 0.1f, -3e-20f}) {
      Layout layout;
      layout.add("one", {1}).add("empty", {0}).add("constant", {5001}).add("two", {2});
      Rig rig("terngrad", {{"code", code}}, layout);
      const Floats x(5004, value);
      EXPECT_EQ(rig.step(x), x) << code;
    }
  }
}

TEST(TernGrad, NoSumWrapsAndMoreThan127RanksAreRefused) {
  for (const int ranks : {2, 64, 127}) {
    Rig rig("terngrad", {}, Layout::flat(9), ranks);
    const std::vector<Floats> x(static_cast<std::size_t>(ranks), Floats(9, -2));
    EXPECT_EQ(rig.step(x), Floats(9, -2));
    EXPECT_EQ(rig.widest, ranks);
  }
  Rig rig("terngrad", {}, Layout::flat(9), 128);
  EXPECT_THROW(rig.step(std::vector<Floats>(128, Floats(9, 1))), Error);
  Rig gathered("terngrad", {{"code", "base3"}}, Layout::flat(9), 130);
  EXPECT_NEAR(gathered.step(std::vector<Floats>(130, Floats(9, 1)))[0], 1, 1e-5);
}

TEST(TernGrad, SizesAndBytes) {
  for (const char* code : {"sum", "2bit", "base3"}) {
    for (const char* clip : {"0", "2.5"}) {
      expect_sizes("terngrad", {{"code", code}, {"clip", clip}}, largest_of,
                   [](double most, double) { return most * 1.0001; });
    }
  }
  const auto bytes = [](const char* code, index_t n) {
    return Rig("terngrad", {{"code", code}}, Layout::flat(1)).method->payload_bytes(Layout::flat(n), 0);
  };
  EXPECT_EQ(bytes("2bit", 11173962), 2793495);  // ResNet-18, then ResNet-20
  EXPECT_EQ(bytes("2bit", 269722), 67435);
  EXPECT_EQ(bytes("base3", 1001), 201 + 4);
  EXPECT_EQ(bytes("sum", 1001), 1001 + 4);
}

TEST(TernGrad, RefusesAFeedback) {
  for (const char* code : {"sum", "2bit", "base3"}) {
    Rig rig("terngrad", {{"code", code}}, Layout::flat(100));
    rig.memories[0].assign(100, 0);
    EXPECT_THROW(rig.step(Floats(100, 1)), Error) << code;
  }
}

TEST(TernGrad, SurvivesExtremesAndRefusesHostilePayloads) {
  for (const char* code : {"sum", "2bit", "base3"}) {
    expect_extremes("terngrad", {{"code", code}}, 1.000002);
    expect_extremes("terngrad", {{"code", code}, {"clip", "0"}}, 1.000002);
  }
  for (const char* code : {"2bit", "base3"}) {
    expect_hostile("terngrad", {{"code", code}}, [](Bytes& bytes, index_t variant) {
      const float bad[] = {NAN, -1};
      if (variant < 2) std::memcpy(bytes.data() + payload_header_bytes + 4 * variant, &bad[variant], 4);
      if (variant == 2) bytes[payload_header_bytes + 9] = std::byte{0xff};  // code 3 of 0..2, byte 255 of 0..242
    });
  }
}

}  // namespace terngrad_test
}  // namespace gradcomp::quantisers
