// Synthetic gradients: their distribution functions, their zeros, and that a draw depends only on its key.
#include "gradcomp/data/generated/synthetic.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace synthetic_test {

std::vector<float> draw(const std::string& text, std::size_t count, std::uint64_t seed = 1, std::uint64_t number = 0) {
  std::vector<float> values(count);
  fill(Distribution::parse(text), seed, number, values);
  return values;
}

/// Kolmogorov-Smirnov distance between the magnitudes of the nonzero values and the distribution function `cdf`.
double distance(const std::vector<float>& values, const std::function<double(double)>& cdf) {
  std::vector<double> sorted;
  for (const float v : values) {
    if (v != 0) sorted.push_back(std::fabs(static_cast<double>(v)));
  }
  std::sort(sorted.begin(), sorted.end());
  double worst = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double n = static_cast<double>(sorted.size()), f = cdf(sorted[i]);
    worst = std::max({worst, std::fabs(f - static_cast<double>(i) / n), std::fabs(f - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

constexpr std::size_t count = 200000;
const double limit = 1.63 / std::sqrt(static_cast<double>(count));  // 1 % of true samples exceed it; the seed is fixed

TEST(Synthetic, MagnitudesFollowTheirDistribution) {
  EXPECT_LT(distance(draw("laplace", count), [](double x) { return -std::expm1(-x); }), limit);
  EXPECT_LT(distance(draw("gauss", count), [](double x) { return std::erf(x / std::sqrt(2.0)); }), limit);
  // A gamma variable with shape 1/2 is half the square of a normal one; with shape 1 it is exponential; with shape 2 it
  // is the sum of two exponential ones.
  EXPECT_LT(distance(draw("gamma", count), [](double x) { return std::erf(std::sqrt(x)); }), limit);
  EXPECT_LT(distance(draw("gamma:1", count), [](double x) { return -std::expm1(-x); }), limit);
  EXPECT_LT(distance(draw("gamma:2", count), [](double x) { return 1 - std::exp(-x) * (1 + x); }), limit);
  for (const double xi : {0.3, 0.1, -0.2}) {
    const auto cdf = [xi](double x) { return 1 - std::pow(std::max(0.0, 1 + xi * x), -1 / xi); };
    EXPECT_LT(distance(draw("pareto:" + std::to_string(xi), count), cdf), limit) << xi;
  }
  EXPECT_LT(distance(draw("pareto:0", count), [](double x) { return -std::expm1(-x); }), limit);
  EXPECT_GT(distance(draw("gauss", count), [](double x) { return -std::expm1(-x); }), 10 * limit);
}

TEST(Synthetic, SignsAreEven) {
  for (const char* name : {"laplace", "gamma", "pareto", "gauss"}) {
    const auto values = draw(name, count);
    const auto negative = std::count_if(values.begin(), values.end(), [](float v) { return v < 0; });
    EXPECT_NEAR(static_cast<double>(negative) / count, 0.5, 4 * 0.5 / std::sqrt(count)) << name;
  }
}

TEST(Synthetic, ZerosAreExactAndTheRestKeepsItsShape) {
  const auto values = draw("laplace+zeros:0.24", count);
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(zeros) / count, 0.24, 0.005);
  EXPECT_LT(distance(values, [](double x) { return -std::expm1(-x); }), 1.2 * limit);
}

TEST(Synthetic, AnElementDependsOnItsKeyAlone) {
  const auto longer = draw("pareto", 1000), shorter = draw("pareto", 17);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_EQ(draw("gamma", 1000), draw("gamma", 1000));
  EXPECT_NE(draw("gamma", 1000, 1), draw("gamma", 1000, 2));
  EXPECT_NE(draw("gamma", 1000, 1, 0), draw("gamma", 1000, 1, 1));
  EXPECT_TRUE(draw("laplace", 0).empty());
}

TEST(Synthetic, ParsesAndRefuses) {
  EXPECT_EQ(Distribution::parse("gamma").parameter, 0.5);
  EXPECT_EQ(Distribution::parse("pareto").parameter, 0.3);
  EXPECT_EQ(Distribution::parse("pareto:0.1+zeros:0.5").zeros, 0.5);
  EXPECT_EQ(Distribution::parse("pareto:0.1+zeros:0.5").parameter, 0.1);
  for (const char* bad :
       {"", "normal", "gamma:", "gamma:0", "gamma:-1", "gamma:x", "pareto:1e400", "laplace:1", "laplace+",
        "laplace+zeros", "laplace+zeros:1", "laplace+zeros:-0.1", "laplace+ones:0.1", "pareto:0.1x", "laplacex"}) {
    try {
      const auto parsed = Distribution::parse(bad);
      // "laplace+zeros" is accepted: it has a share of 0
      EXPECT_EQ(std::string(bad), "laplace+zeros");
      EXPECT_EQ(parsed.zeros, 0);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(bad), testing::HasSubstr("allowed: laplace")));
    }
  }
}

}  // namespace synthetic_test
}  // namespace gradcomp::data
