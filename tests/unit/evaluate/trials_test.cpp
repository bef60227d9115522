// Bias and contraction over trials, for methods whose values are known.
#include "gradcomp/evaluate/trials.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "copies.hpp"
#include "gradcomp/data/generated/synthetic.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::evaluate {
namespace trials_test {

constexpr index_t n = 5003;

Trials trials_of(const std::string& spec, const std::string& fed_back = "", index_t count = 60) {
  std::vector<float> host(n);
  data::fill(data::Distribution::parse("laplace"), 3, 0, host);
  const Vector<float> gradient = test::to_device(host);
  const MethodSpec method = parse_method(spec);
  const MethodSpec remembering = parse_method(fed_back.empty() ? spec : fed_back);
  Trials trials;
  run_trials(Exec(), method, fed_back.empty() ? nullptr : &remembering, Layout::flat(n), gradient, 1, count, trials);
  return trials;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

TEST(Trials, UnbiasedRoundingHasNoBias) {
  for (const char* spec :
       {"qsgd:bits=2", "natural", "max_min:bits=2", "random_k:ratio=0.1:scale=unbiased:feedback=none"}) {
    SCOPED_TRACE(spec);
    EXPECT_LT(std::fabs(bias_z(trials_of(spec))), 4.5);
  }
}

TEST(Trials, ClippingIsSeen) {
  const Trials trials = trials_of("terngrad:clip=1");
  EXPECT_LT(bias_z(trials), -20);
  EXPECT_LT(mean(trials.bias), -0.1);
}

TEST(Trials, DeterministicMethodsHaveABiasButNoStandardError) {
  const Trials trials = trials_of("top_k:ratio=0.01", "top_k:ratio=0.01:feedback=residual");
  EXPECT_TRUE(std::isnan(bias_z(trials)));
  // a selection is orthogonal to its rest: <d, a> = ||d||^2
  EXPECT_NEAR(mean(trials.bias) + 1, mean(trials.contraction), 1e-9);
  EXPECT_GT(mean(trials.contraction), 0.01) << "the largest hold more than their share";
}

TEST(Trials, AFeedbackShrinksWhatWouldNotContract) {
  const Trials plain = trials_of("linear_dithering:bits=2:norm=l2");
  const Trials shrunk =
      trials_of("linear_dithering:bits=2:norm=l2", "linear_dithering:bits=2:norm=l2:feedback=residual");
  EXPECT_LT(mean(plain.contraction), 0) << "the error is larger than the gradient";
  EXPECT_GT(mean(shrunk.contraction), 0);
}

TEST(Trials, ZIsTheMeanOverItsStandardErrorByHand) {
  // Mean 2, squares 1 + 0 + 1: the deviation is 1, the mean's error 1 / sqrt(3), and 2 sqrt(3) = 3.4641.
  EXPECT_NEAR(bias_z({{1, 2, 3}, {}}), 2 * std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(bias_z({{-1, -2, -3}, {}}), -2 * std::sqrt(3.0), 1e-12);
  // Mean 0.5, squares 4 x 2.25 = 9: the error is sqrt(9 / (4 x 3)).
  EXPECT_NEAR(bias_z({{2, -1, 2, -1}, {}}), 0.5 / std::sqrt(0.75), 1e-12);
  EXPECT_EQ(bias_z({{1, -1}, {}}), 0);
  EXPECT_TRUE(std::isnan(bias_z({{1, 1}, {}}))) << "no error to measure by";
}

TEST(Trials, ZerosHaveNoDirection) {
  const Vector<float> zeros("zeros", n);
  Trials trials;
  run_trials(Exec(), parse_method("fp32"), nullptr, Layout::flat(n), zeros, 1, 5, trials);
  EXPECT_TRUE(trials.bias.empty());
}

}  // namespace trials_test
}  // namespace gradcomp::evaluate
