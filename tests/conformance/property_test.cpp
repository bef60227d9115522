// What info() claims about the error (exact, contraction, unbiased) and about the scale of a gradient.
#include <array>
#include <cmath>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace property_test {

std::vector<float> compressed_once(const MethodSpec& method, const Layout& layout, const std::vector<float>& values) {
  auto ranks = make_ranks(method, layout, 1);
  ranks[0].set_gradient(values);
  const StepResult done = run_step(ranks, 0);
  EXPECT_TRUE(done.ok());
  return done.out[0];
}

TEST_P(Conformance, ErrorIsAsDeclared) {
  const auto property = method("none").compressor->info().property;
  if (property == Info::Property::unbiased || !takes_residual()) GTEST_SKIP() << "the test Unbiased checks it";
  if (property == Info::Property::biased) GTEST_SKIP() << "the method claims no bound";
  for_each_case([&](const NamedLayout& layout, const NamedData& values) {
    const auto a = values.make(layout.layout.count(), 51);
    const auto c = compressed_once(method("residual"), layout.layout, a);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (property == Info::Property::exact) {
        ASSERT_EQ(a[i], c[i]) << "element " << i;
      }
      error += std::pow(static_cast<double>(a[i]) - c[i], 2);
      size += std::pow(static_cast<double>(a[i]), 2);
    }
    // Stochastic rounding may round values below the smallest spacing (2^-24 for fp16) up to it.
    if (property == Info::Property::rounding) size += static_cast<double>(a.size()) * 0x1p-48;
    EXPECT_LE(error, size * (1 + 1e-6)) << "||a - C(a)||^2 > ||a||^2";
  });
}

// C(2^j a) = 2^j C(a), bit for bit if the method has no absolute constant. Low-rank methods (a small epsilon in the
// orthogonalisation) and 16-bit formats (a fixed range) cannot promise this.
TEST_P(Conformance, ScalesWithTheGradient) {
  const Info info = method("none").compressor->info();
  if (!info.scale_free) GTEST_SKIP() << "not claimed";
  const bool exact = info.family != Info::Family::low_rank && info.property != Info::Property::rounding;
  for (const auto& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    const auto a = make_data("laplace", layout.layout.count(), 61);
    const auto c = compressed_once(method(feedbacks().back()), layout.layout, a);
    for (const float factor : {0x1p+5f, 0x1p-3f}) {
      auto scaled = a;
      for (float& v : scaled) v *= factor;
      const auto d = compressed_once(method(feedbacks().back()), layout.layout, scaled);
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(d[i], factor * c[i], exact ? 0 : 1e-3 * factor) << "element " << i << " factor " << factor;
    }
  }
}

// E[C(a)] = a. The mean of many steps is projected on 24 directions (groups of neighbours, and the sum), because a sum
// of many coordinates is close to normal even if each coordinate is kept only once in a thousand steps.
TEST_P(Conformance, Unbiased) {
  // If a variant of a sparsifier refuses a residual, it scales values up in order to be unbiased.
  const Info info = method("none").compressor->info();
  const bool sparsifier = info.family == Info::Family::sparsifier;
  const bool claimed = info.property == Info::Property::unbiased || (sparsifier && !takes_residual());
  if (!claimed) GTEST_SKIP() << "not claimed";
  constexpr std::size_t n = 192, groups = 24, trials = 1500;
  const auto a = make_data("laplace", n, 71);
  auto ranks = make_ranks(method("none"), Layout::flat(n), 1);
  ranks[0].set_gradient(a);
  std::array<double, groups + 1> sum{}, square{};
  for (std::size_t t = 0; t < trials; ++t) {
    const auto c = run_step(ranks, static_cast<std::int64_t>(t)).out[0];
    std::array<double, groups + 1> error{};
    for (std::size_t i = 0; i < n; ++i) {
      const double e = static_cast<double>(c[i]) - a[i];
      error[i % groups] += e;
      error[groups] += e * (a[i] < 0 ? -1 : 1);  // shows whether a compressor shrinks or enlarges values
    }
    for (std::size_t g = 0; g <= groups; ++g) {
      sum[g] += error[g];
      square[g] += error[g] * error[g];
    }
  }
  for (std::size_t g = 0; g <= groups; ++g) {
    const double mean = sum[g] / trials, variance = square[g] / trials - mean * mean;
    EXPECT_LE(std::fabs(mean), 5 * std::sqrt(variance / trials) + 1e-9) << "direction " << g;
  }
}

}  // namespace property_test
}  // namespace gradcomp::conformance
