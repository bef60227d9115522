// Gradients of any size: within its range (method/scale_range.hpp) a method treats multiples alike, and beyond it the
// mean is finite or all ranks know that the run ends.
#include <algorithm>
#include <cmath>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "gradcomp/method/scale_range.hpp"

namespace gradcomp::conformance {
namespace range_test {

constexpr int rank_count = 2;

/// Values within a factor of 64 of each other and with zeros between them; the largest magnitude is in [2^(k-1), 2^k).
std::vector<float> of_size(int k, index_t count, std::uint64_t seed) {
  std::vector<float> values = make_data("laplace", count, seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    int exponent = 0;
    const float fraction = i % 10 == 3 ? 0 : std::frexp(values[i], &exponent);
    values[i] = std::ldexp(fraction, k - static_cast<int>(i % 6));
  }
  return values;
}

StepResult step_of_size(const MethodSpec& method, const Layout& layout, int k) {
  auto ranks = make_ranks(method, layout, rank_count);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].set_gradient(of_size(k, layout.count(), 7 + r));
  return run_step(ranks, 0);
}

/// Calls body(layout) for a vector and for many tensors.
void for_each_layout(const std::function<void(const Layout&)>& body) {
  for (const auto& layout : layouts()) {
    if (layout.name != "n1003" && layout.name != "many") continue;
    SCOPED_TRACE(layout.name);
    body(layout.layout);
  }
}

TEST_P(Conformance, TreatsMultiplesAlikeWithinItsRange) {
  const MethodSpec spec = method(feedbacks().back());
  const auto range = scale_range(spec.compressor->info());
  if (!is_default() || GetParam().find('+') != std::string::npos || !range)
    GTEST_SKIP() << "the page of methods claims no range";
  for_each_layout([&](const Layout& layout) {
    const std::vector<float> unit = step_of_size(spec, layout, 0).out[0];
    float most = 0;
    for (const float v : unit) most = std::max(most, std::fabs(v));
    for (const int k : {range->low + 1, range->low / 2, range->high / 2, range->high}) {
      SCOPED_TRACE(k);
      const StepResult scaled = step_of_size(spec, layout, k);
      ASSERT_TRUE(scaled.ok());
      for (std::size_t i = 0; i < unit.size(); ++i)
        ASSERT_NEAR(std::ldexp(static_cast<double>(scaled.out[0][i]), -k), unit[i], 1e-5 * most) << "element " << i;
    }
  });
}

TEST_P(Conformance, AnyFiniteGradientHasAFiniteMeanOrEndsTheRun) {
  for (const auto& feedback : feedbacks()) {
    SCOPED_TRACE(feedback);
    for_each_layout([&](const Layout& layout) {
      for (const int k : {-145, -130, -90, 110, 122, 125, 128}) {
        SCOPED_TRACE(k);
        const StepResult done = step_of_size(method(feedback), layout, k);
        ASSERT_TRUE(done.diverged == 0 || done.diverged == rank_count) << done.diverged;
        if (!done.ok()) continue;
        for (const float v : done.out[0]) ASSERT_TRUE(std::isfinite(v));
      }
    });
  }
}

}  // namespace range_test
}  // namespace gradcomp::conformance
