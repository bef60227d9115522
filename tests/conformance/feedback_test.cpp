// The kinds of feedback other than the residual, for every method that takes them. Memories must follow from what the
// receivers decode.
#include <algorithm>
#include <cmath>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace feedback_test {

using Values = std::vector<float>;

/// Checks that x and y differ by no more than the rounding of sums of this size.
void expect_close(const Values& x, const Values& y, const Values& size) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(std::fabs(static_cast<double>(x[i]) - y[i]), 0x1p-20 * std::fabs(size[i]) + 1e-44) << "element " << i;
  }
}

/// Elements whose momentum stays when they are sent: those of tensors that the method sends whole.
std::vector<bool> keeping_momentum(const MethodSpec& method, const Layout& layout) {
  std::vector<bool> keeps(static_cast<std::size_t>(layout.count()));
  if (method.canonical.find(":vectors=whole") == std::string::npos) return keeps;
  for (const Segment& segment : layout.segments) {
    if (!segment.is_tensor || segment.is_matrix()) continue;
    std::fill_n(keeps.begin() + segment.offset, segment.count, true);
  }
  return keeps;
}

// u = m u + g; a = v + u; v = a - decoded, u = 0 where something was decoded
TEST_P(Conformance, MomentumCorrectionKeepsWhatWasNotSent) {
  if (!takes("momentum_correction")) GTEST_SKIP() << "refuses the kind";
  if (!method("none").compressor->info().sends_values)
    GTEST_SKIP() << "an element that decodes to zero may have been sent";
  for_each_case([&](const NamedLayout& layout, const NamedData& values) {
    auto ranks = make_ranks(method("momentum_correction"), layout.layout, 1);
    const auto keeps = keeping_momentum(method("momentum_correction"), layout.layout);
    Values u(static_cast<std::size_t>(ranks[0].count)), v(u);
    for (int step = 0; step < 3; ++step) {
      const auto g = values.make(ranks[0].count, 11 + static_cast<std::uint64_t>(step));
      ranks[0].set_gradient(g);
      const StepResult done = run_step(ranks, step);
      ASSERT_TRUE(done.ok());
      for (std::size_t i = 0; i < u.size(); ++i) {
        u[i] = 0.9f * u[i] + g[i];
        const float a = v[i] + u[i], decoded = done.out[0][i];
        v[i] = a - decoded;
        if (decoded != 0 && !keeps[i]) u[i] = 0;  // if a zero was sent, u is 0 already
      }
      Values size(v);
      for (std::size_t i = 0; i < v.size(); ++i) size[i] = std::fabs(v[i]) + std::fabs(g[i]) + std::fabs(u[i]);
      ASSERT_NO_FATAL_FAILURE(expect_close(ranks[0].memory(), v, size)) << "step " << step;
    }
  });
}

// The h of every rank grows by what it decodes to, so that the mean of h is the sum of all means.
TEST_P(Conformance, Ef21FollowsTheGradients) {
  if (!takes("ef21")) GTEST_SKIP() << "refuses the kind";
  for_each_case([&](const NamedLayout& layout, const NamedData& values) {
    auto ranks = make_ranks(method("ef21"), layout.layout, 2);
    Values estimate(static_cast<std::size_t>(ranks[0].count)),
        size(estimate);  // the sum of all magnitudes, because terms may cancel
    for (int step = 0; step < 4; ++step) {
      set_gradients(ranks, values.name, 17 + static_cast<std::uint64_t>(step));
      const StepResult done = run_step(ranks, step);
      ASSERT_TRUE(done.ok());
      const Values h[] = {ranks[0].memory(), ranks[1].memory()};
      Values mean(estimate);
      for (std::size_t i = 0; i < mean.size(); ++i) {
        estimate[i] += done.out[0][i];
        mean[i] = h[0][i] / 2 + h[1][i] / 2;
        size[i] += std::fabs(h[0][i]) + std::fabs(h[1][i]) + std::fabs(done.out[0][i]) + std::fabs(estimate[i]);
      }
      ASSERT_NO_FATAL_FAILURE(expect_close(estimate, mean, size)) << "step " << step;
    }
  });
}

}  // namespace feedback_test
}  // namespace gradcomp::conformance
