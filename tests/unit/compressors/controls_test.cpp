// Compares the dense controls with values computed by hand: division before the cast, saturation, one rounding of the
// sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp {
namespace controls_test {

/// The decoded 16-bit message of one of `ranks` ranks for `gradient`.
template <class Format>
std::vector<float> sent(const std::string& name, const std::vector<float>& gradient, int ranks,
                        const std::string& rounding = "nearest", std::int64_t step = 0) {
  const Entry& entry = find_entry(name);
  const auto compressor = entry.make(ParameterValues(name, entry.info.parameters, {{"rounding", rounding}}));
  const auto n = gradient.size();
  const Vector<float> device("gradcomp::tests::gradient", n);
  Kokkos::deep_copy(device, HostSpan<const float>(gradient.data(), n));
  const auto state = compressor->prepare(Layout::flat(static_cast<index_t>(n)));
  Source source;
  source.count = static_cast<index_t>(n);
  source.gradient = device.data();
  const Exec exec;
  const Message message = compressor->produce(exec, 0, {source, {}, {1, step, 0, ranks}, {}}, *state);
  EXPECT_EQ(message.dtype, Format::dtype);
  std::vector<std::uint16_t> codes(n);
  Kokkos::deep_copy(exec, HostSpan<std::uint16_t>(codes.data(), n),
                    Span<const std::uint16_t>(static_cast<const std::uint16_t*>(message.data), n));
  exec.fence();
  std::vector<float> values;
  for (const auto code : codes) values.push_back(Format::decode(code));
  return values;
}

TEST(Controls, HalfDividesBeforeTheCast) {
  // With 60000 on each of 4 ranks, the sum 240000 would be infinite, but the mean is not.
  EXPECT_EQ(sent<kernels::Half>("fp16", {60000.0f, 1.0f, -3.0f}, 4), (std::vector<float>{15000, 0.25f, -0.75f}));
}

TEST(Controls, HalfSaturatesSoThatNoSumOverflows) {
  for (const int ranks : {1, 2, 3, 7, 16, 100}) {
    const auto value = sent<kernels::Half>("fp16", {1e30f, -65504.0f, -3e38f}, ranks);
    for (const float v : value) {
      const float sum = std::fabs(v) * static_cast<float>(ranks);
      EXPECT_LE(sum, 65504.0f) << ranks;
      EXPECT_GT(sum, 65504.0f * (1 - 0x1p-9f)) << ranks;
      EXPECT_LT(kernels::Half::encode(sum), 0x7c00) << "the rounding by the transport must not make it infinite";
    }
  }
}

TEST(Controls, BfloatKeepsTheRangeOfFloat) {
  const auto value = sent<kernels::Bfloat>("bf16", {1e30f, 3.4028235e38f, 1e-38f, -2.5f}, 2);
  EXPECT_NEAR(value[0] / 5e29, 1, 0x1p-8);
  EXPECT_TRUE(std::isfinite(value[1] * 2));
  EXPECT_NEAR(value[2] / 5e-39, 1, 0x1p-6);  // a denormal
  EXPECT_EQ(value[3], -1.25f);
}

TEST(Controls, NonFiniteElementsTravelAsNaN) {
  const auto half = sent<kernels::Half>("fp16", {1, INFINITY, -INFINITY, NAN}, 2);
  const auto bfloat = sent<kernels::Bfloat>("bf16", {1, INFINITY, -INFINITY, NAN}, 2);
  EXPECT_EQ(half[0], 0.5f);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(half[i]) && std::isnan(bfloat[i])) << i;
}

TEST(Controls, DenseMessageIsTheGradientItself) {
  const Entry entry = find_entry("fp32");
  const auto compressor = entry.make(ParameterValues("fp32", entry.info.parameters, {}));
  const Vector<float> gradient("gradcomp::tests::gradient", 5);
  const auto state = compressor->prepare(Layout::flat(5));
  Source source;
  source.count = 5;
  source.gradient = gradient.data();
  const Message message = compressor->produce(Exec{}, 0, {source, {}, {}, {}}, *state);
  EXPECT_EQ(message.data, gradient.data()) << "copying the gradient would handicap the control";
  EXPECT_EQ(message.bytes(), 20);
}

/// Every mean within 6 standard errors of the value, whose variance is that of two neighbours and a fraction.
template <class Format>
void expect_unbiased(const std::string& name, int ranks) {
  const std::vector<float> values = {1.0f,     1.0001f, -3.14159f, 0.1f,     -0.333333f, 1e-6f, 5.5e-8f,
                                     -2.7e-7f, 40000.f, 1234.567f, 0x1p-14f, -0.0f,      2049,  6.1e-5f};
  constexpr int trials = 4096;
  std::vector<double> sum(values.size());
  std::vector<float> low(values.size(), 1e38f), high(values.size(), -1e38f);
  for (int t = 0; t < trials; ++t) {
    const auto got = sent<Format>(name, values, ranks, "stochastic", t);
    for (std::size_t i = 0; i < got.size(); ++i) {
      sum[i] += static_cast<double>(got[i]);
      low[i] = std::min(low[i], got[i]);
      high[i] = std::max(high[i], got[i]);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    SCOPED_TRACE(values[i]);
    const float share = values[i] / static_cast<float>(ranks);
    const double x = share, down = low[i], up = high[i];
    if (low[i] == high[i]) {  // the format has this value, or the fraction is too small to be drawn
      EXPECT_LE(std::fabs(x - down), 0x1p-8 * std::fabs(x));
      if (Format::decode(Format::encode(share)) == share) {
        EXPECT_EQ(low[i], share);
      }
      continue;
    }
    EXPECT_LE(down, x);
    EXPECT_GE(up, x);
    const double error = std::sqrt((x - down) * (up - x) / trials);
    EXPECT_LT(std::fabs(sum[i] / trials - x), 6 * error);
  }
}

TEST(Controls, StochasticRoundingIsUnbiased) {
  expect_unbiased<kernels::Half>("fp16", 1);
  expect_unbiased<kernels::Half>("fp16", 3);
  expect_unbiased<kernels::Bfloat>("bf16", 1);
  expect_unbiased<kernels::Bfloat>("bf16", 4);
}

}  // namespace controls_test
}  // namespace gradcomp
