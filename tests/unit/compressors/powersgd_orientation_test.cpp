// matrix=authors is outputs x all other extents, in whatever order a tensor is stored. Also the unbiased variant that
// sends its two factors in turn.
#include "unit/compressors/powersgd_rig.hpp"

namespace powersgd_test {
namespace powersgd_orientation_test {

/// An embedding, a filter and a bias, as models of this project store them, and as the authors' matrices.
Layout stored() { return Layout().add("embedding", {60, 20}, true).add("filter", {3, 3, 8, 16}).add("bias", {16}); }
Layout authors() { return Layout().add("embedding", {60, 20}).add("filter", {16, 72}).add("bias", {16}); }

constexpr std::size_t filter_at = 1200, inputs = 72, outputs = 16;

/// Puts values from the first order into the second one.
Floats as_authors(const Floats& x) {
  Floats y = x;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t o = 0; o < outputs; ++o) y[filter_at + o * inputs + i] = x[filter_at + i * outputs + o];
  }
  return y;
}

TEST(PowerSgdOrientation, IsThatOfTheAuthorsForEveryVariant) {
  const index_t n = stored().count();
  for (const Given& variant : {Given{{"variant", "two_sided"}},
                               {{"variant", "cold"}},
                               {{"variant", "one_sided"}},
                               {{"variant", "two_sided"}, {"orthogonalise", "householder"}},
                               {{"variant", "unbiased"}},
                               {{"variant", "unbiased"}, {"side", "alternating"}}}) {
    const std::string& name = variant.at("variant");
    const bool feedback = name != "unbiased";
    Given own = variant, last = variant;
    own.merge(Given{{"rank", "2"}, {"matrix", "authors"}});
    last.merge(Given{{"rank", "2"}});
    Workers turned(stored(), own, 2, feedback), reference(authors(), last, 2, feedback),
        other(stored(), last, 2, feedback);
    for (unsigned step = 0; step < 5; ++step) {
      const std::vector<Floats> gradients = {normal_values(n, step), normal_values(n, 50 + step)};
      ASSERT_TRUE(turned.step(gradients));
      ASSERT_TRUE(reference.step({as_authors(gradients[0]), as_authors(gradients[1])}));
      ASSERT_TRUE(other.step(gradients));
      EXPECT_EQ(turned.bytes, reference.bytes) << name;
      EXPECT_LT(squared_distance(as_authors(turned.out), reference.out), 1e-8 * squared(reference.out)) << name << step;
      EXPECT_GT(squared_distance(turned.out, other.out), 1e-3 * squared(other.out))
          << name << ": the test must tell the two orders apart";
      if (!feedback) continue;
      EXPECT_LT(squared_distance(as_authors(turned.memory[1]), reference.memory[1]),
                1e-8 * squared(reference.memory[1]));
    }
  }
}

// Even steps are as without side=alternating. Odd steps send U^T M, whose mean is M too, with the variance
// (|column j|^2 + (m4 - 2) M_ij^2) / r.
TEST(PowerSgdAlternating, SendsTheOtherSideInOddStepsWithoutBias) {
  constexpr int trials = 4096, rank = 2;
  constexpr double fourth = 3 - 1.2 / 8;
  const Layout layout = matrix(16, 12);
  const Floats m = normal_values(192, 22);
  Workers w(layout, Given{{"variant", "unbiased"}, {"side", "alternating"}, {"rank", "2"}}, 1, false);
  EXPECT_FALSE(w.method->info().fixed_bytes);
  EXPECT_EQ(w.method->payload_bytes(layout, 0), 4 * rank * 16);
  std::vector<double> sum(192), square(192);
  for (int t = 0; t < 2 * trials; ++t) {
    ASSERT_TRUE(w.step({m}));
    ASSERT_EQ(w.bytes, 4 * rank * (t % 2 == 0 ? 16 : 12));
    for (std::size_t i = 0; i < 192 && t % 2 == 1; ++i) {
      const double error = static_cast<double>(w.out[i]) - m[i];
      sum[i] += error;
      square[i] += error * error;
    }
  }
  double measured = 0, expected = 0;
  for (std::size_t i = 0; i < 192; ++i) {
    double column = 0;
    for (std::size_t j = i % 12; j < 192; j += 12) column += static_cast<double>(m[j]) * m[j];
    const double variance = (column + (fourth - 2) * m[i] * m[i]) / rank;
    EXPECT_LT(std::fabs(sum[i]) / std::sqrt(variance * trials), 6) << i;
    measured += square[i] / trials;
    expected += variance;
  }
  EXPECT_NEAR(measured, expected, 0.05 * expected);
}

}  // namespace powersgd_orientation_test
}  // namespace powersgd_test
