// The method rotated: it is unbiased with a variance within its bound; the two scales of DRIVE; errors that do not
// depend on how the gradient is distributed over its elements; feedback; unusual inputs.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace rotated_test {

double error_of(const Floats& x, const Floats& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(static_cast<double>(x[i]) - y[i], 2);
  return sum;
}

/// The scale of the first bucket: f32 t / sqrt(P) or s / sqrt(P) at the start of the sections.
float scale_of(const Rig& rig) {
  float scale = 0;
  std::memcpy(&scale, rig.payload().data() + payload_header_bytes, 4);
  return scale;
}

// P t^2 / L^2 bounds the variance, with t as it is sent. The means are tested with the variance of the trials.
TEST(Rotated, IsUnbiasedWithinItsVariance) {
  const int trials = 4096, n = 200, padded = 256;
  const Floats x = normal_values(n, 3);
  for (const int bits : {2, 3, 4, 8}) {
    Rig rig("rotated", {{"bits", std::to_string(bits)}}, Layout::flat(n));
    std::vector<double> sum(x.size()), square(x.size());
    double error = 0, bound = 0;
    for (int t = 0; t < trials; ++t) {
      const Floats d = rig.step(x, t);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double e = static_cast<double>(d[i]) - x[i];
        sum[i] += e;
        square[i] += e * e;
      }
      const double step = scale_of(rig) * std::sqrt(padded) / ((1 << bits) - 1);
      const double e = error_of(x, d);
      ASSERT_LE(e, 4 * padded * step * step * 1.001) << "an element further than one level away";
      error += e;
      bound += padded * step * step;
    }
    EXPECT_LE(error, bound) << bits;
    EXPECT_GE(error, 0.4 * bound) << bits;  // f (1 - f) is 1/6 on average and 1/4 at most, and n of P elements count
    double chi = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = sum[i] / std::sqrt(square[i]);
      EXPECT_LT(std::abs(z), 6) << i;
      chi += z * z;
    }
    EXPECT_LT(std::abs(chi - n), 6 * std::sqrt(2.0 * n)) << bits;
  }
}

// Random signs would hide a bias of the rounding. But ranks share them in a step, so that the mean over ranks shows a
// bias.
TEST(Rotated, RoundingIsUnbiasedForOneRotation) {
  const int ranks = 2000, n = 200, padded = 256;
  const Floats x = normal_values(n, 3);
  for (const int bits : {2, 3, 4, 8}) {
    Rig rig("rotated", {{"bits", std::to_string(bits)}}, Layout::flat(n), ranks);
    const Floats mean = rig.step(std::vector<Floats>(ranks, x), bits);
    const double step = scale_of(rig) * std::sqrt(padded) * 2 / ((1 << bits) - 1);
    EXPECT_LE(error_of(x, mean), padded * step * step / 4 / ranks) << bits;
  }
}

TEST(Rotated, OneBitKeepsTheInnerProduct) {
  const Floats x = normal_values(1000, 4);
  Rig rig("rotated", {{"bits", "1"}}, Layout::flat(1000));
  const double norm = norm_of(x);
  std::vector<double> mean(x.size());
  const int trials = 2000;
  for (int t = 0; t < trials; ++t) {
    const Floats d = rig.step(x, t);
    double inner = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      inner += static_cast<double>(d[i]) * x[i];
      mean[i] += d[i] / trials;
    }
    ASSERT_NEAR(inner, norm * norm, 1e-4 * norm * norm);
  }
  double bias = 0;
  for (std::size_t i = 0; i < x.size(); ++i) bias += std::pow(mean[i] - x[i], 2);
  // pi / 2 - 1 = 0.57 of ||x||^2 in a trial
  EXPECT_NEAR(bias / (norm * norm) * trials, 0.571 * 1.024, 0.1);
  const Floats d = Rig("rotated", {{"bits", "1"}}, Layout::flat(2)).step(Floats{2, 1});
  EXPECT_NEAR(d[0], 2.5, 1e-5);
  EXPECT_NEAR(d[1], 0, 1e-5);
}

TEST(Rotated, OneBitContractsUnderAFeedback) {
  for (const index_t n : {4096, 20000}) {
    const Floats x = normal_values(n, 5);
    Rig rig("rotated", {{"bits", "1"}}, Layout::flat(n));
    rig.memories[0].assign(x.size(), 0);
    const Floats d = rig.step(x);
    const double size = norm_of(x) * norm_of(x), error = error_of(x, d);
    EXPECT_NEAR(error / size, 1 - 2 / 3.14159265, 0.02);
    EXPECT_LT(std::abs(error_of(rig.memories[0], Floats(x.size())) - error), 1e-4 * size) << "the memory is the error";
  }
}

TEST(Rotated, OneLargeElementCostsTheOthersNothing) {
  for (const char* bits : {"3", "4", "8"}) {
    Floats x = normal_values(4096, 6);
    x[1234] = 60;
    Rig rotated("rotated", {{"bits", bits}}, Layout::flat(4096));
    Rig plain("linear_dithering", {{"bits", bits}}, Layout::flat(4096));
    EXPECT_LT(5 * error_of(x, rotated.step(x)), error_of(x, plain.step(x))) << bits;
  }
  for (const char* bits : {"1", "2", "4"}) {  // every element of the transform has one of the outer levels
    Floats x(5000, 0);
    x[4321] = -0.7f;
    const Floats d = Rig("rotated", {{"bits", bits}}, Layout::flat(5000)).step(x);
    EXPECT_LT(error_of(x, d), 1e-10) << bits;
  }
}

// ||a - C(a)||^2 <= w / (1 + w) ||a||^2 in the mean, w of the bucket; without a cut t / sqrt(P) was sent times 1 / (1 +
// w)
TEST(Rotated, ContractsInTheMeanUnderAFeedback) {
  const Floats x = normal_values(4096, 7);
  const double size = norm_of(x) * norm_of(x);
  for (const auto& [bits, clip, most] : {std::tuple{2, "0", 0.75}, std::tuple{2, "2", 0.4}, std::tuple{3, "0", 0.3},
                                         std::tuple{3, "2.5", 0.2}, std::tuple{4, "0", 0.09}}) {
    Rig rig("rotated", {{"bits", std::to_string(bits)}, {"clip", clip}}, Layout::flat(4096));
    double error = 0;
    for (int t = 0; t < 20; ++t) {
      rig.memories[0].assign(x.size(), 0);
      error += error_of(x, rig.step(x, t)) / 20;
    }
    EXPECT_LT(error, most * size) << bits << " clip " << clip;
  }
  Rig refused("rotated", {{"bits", "4"}, {"scale", "none"}}, Layout::flat(100));
  refused.memories[0].assign(100, 0);
  EXPECT_THROW(refused.step(Floats(100, 1)), Error);
  Rig fine("rotated", {{"bits", "8"}, {"scale", "none"}}, Layout::flat(100));
  fine.memories[0].assign(100, 0);
  EXPECT_NO_THROW(fine.step(Floats(100, 1)));
}

TEST(Rotated, ClippingGivesFinerLevels) {
  const Floats x = normal_values(8192, 8);
  const auto error = [&](const char* clip) {
    return error_of(x, Rig("rotated", {{"bits", "4"}, {"clip", clip}}, Layout::flat(8192)).step(x));
  };
  EXPECT_LT(error("3"), 0.75 * error("0"));
  EXPECT_GT(error("0.5"), error("0"));
  EXPECT_EQ(error("10"), error("0"));
}

TEST(Rotated, SizesAndBytes) {
  for (const index_t n : sizes()) {
    Layout mixed;
    mixed.add("a", {n}).add("empty", {0}).add("b", {7, 3}).add("c", {1}).add("d", {n + 1});
    for (const Layout& layout : {Layout::flat(n), mixed}) {
      Rig rig("rotated", {{"bits", "8"}, {"group", "1024"}}, layout);
      const Floats x = normal_values(layout.count(), static_cast<unsigned>(n)), d = rig.step(x);
      ASSERT_EQ(rig.messages[0].size, rig.method->payload_bytes(layout, 0) + payload_header_bytes);
      for (const auto& segment : layout.segments) {
        const auto first = static_cast<std::size_t>(segment.offset),
                   end = first + static_cast<std::size_t>(segment.count);
        double error = 0, size = 0;
        for (std::size_t i = first; i < end; ++i) {
          error += std::pow(static_cast<double>(d[i]) - x[i], 2);
          size += std::pow(static_cast<double>(x[i]), 2);
        }
        ASSERT_LE(error, 0.03 * 0.03 * size) << "n " << n << " " << segment.name;
      }
    }
  }
  const auto bytes = [](const char* bits, index_t n) {
    return Rig("rotated", {{"bits", bits}}, Layout::flat(1)).method->payload_bytes(Layout::flat(n), 0);
  };
  EXPECT_EQ(bytes("4", 8192), 2 * 4 + 8192 / 2);
  EXPECT_EQ(bytes("4", 4097), 2 * 4 + (4096 + 32) / 2);
  EXPECT_EQ(bytes("3", 3000), 4 + 4096 * 3 / 8);
  EXPECT_EQ(bytes("1", 1), 4 + 4);
  EXPECT_EQ(bytes("8", 0), 0);
}

TEST(Rotated, Telescopes) {
  for (const char* bits : {"1", "3", "8"}) expect_telescoping("rotated", {{"bits", bits}}, 2);
}

TEST(Rotated, RanksShareSignsButNotTheirRounding) {
  Rig rig("rotated", {}, Layout::flat(4096), 2);
  const Floats x = normal_values(4096, 9);
  const Floats d = rig.step({x, x});
  EXPECT_EQ(scale_of(rig), [&] {
    float other = 0;
    std::memcpy(&other, rig.payload(1).data() + payload_header_bytes, 4);
    return other;
  }()) << "with the same rotation, the largest element is the same";
  EXPECT_NE(rig.payload(0), rig.payload(1));
  const Floats one = Rig("rotated", {}, Layout::flat(4096)).step(x);
  EXPECT_NEAR(error_of(x, d), error_of(x, one) / 2, 0.1 * error_of(x, one));
}

TEST(Rotated, ZerosAndExtremes) {
  for (const char* bits : {"1", "4", "8"}) expect_extremes("rotated", {{"bits", bits}}, 60);
  for (const float value : {3e38f, -2e38f}) {  // decodes to zeros, and the memory keeps everything, which is finite
    Rig rig("rotated", {}, Layout::flat(700));
    rig.memories[0].assign(700, 0);
    Floats x(700, value);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = -x[i];
    EXPECT_EQ(rig.step(x), Floats(700, 0));
    EXPECT_EQ(rig.memories[0], x);
  }
}

TEST(Rotated, RefusesHostileScales) {
  Rig rig("rotated", {}, Layout::flat(5000));
  rig.step(normal_values(5000, 11));
  for (const float scale : {NAN, INFINITY, -1.0f, 3e38f}) {
    Bytes bad = rig.payload();
    std::memcpy(bad.data() + payload_header_bytes + 4, &scale, 4);
    Floats out(5000, 0);
    if (scale == 3e38f) {
      rig.decode(bad, out);
      for (const float v : out) ASSERT_TRUE(std::isfinite(v));
    } else {
      EXPECT_THROW(rig.decode(bad, out), Error);
    }
  }
}

}  // namespace rotated_test
}  // namespace gradcomp::quantisers
