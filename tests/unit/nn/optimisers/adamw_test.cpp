#include "gradcomp/nn/optimisers/adamw.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "unit/nn/mirrored.hpp"

namespace gradcomp::nn {
namespace adamw_test {

using test::Mirrored;

Layout matrix_and_vector() { return Layout{}.add("w", {2, 1}).add("b", {1}); }

OptimiserOptions options() {
  return {.name = "adamw", .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1};
}

/// Gradients with different signs and sizes, and one step of zeros.
double gradient_of(int i, int step) { return step == 2 ? 0 : (0.25 * i - 0.375) * (1 + step) + (step % 2) * 0.5; }

/// The update of one parameter by algorithm 2 of the paper.
struct Formula {
  double p, m = 0, s = 0;
  int t = 0;

  void step(double g, double rate, bool decays) {
    ++t;
    p -= rate * (decays ? 0.1 : 0) * p;  // decays the parameter before the update, by the rate, without the moments
    m = 0.8 * m + 0.2 * g;
    s = 0.95 * s + 0.05 * g * g;
    const double mean = m / (1 - std::pow(0.8, t)), square = s / (1 - std::pow(0.95, t));
    p -= rate * mean / (std::sqrt(square) + 1e-3);
  }
};

template <class T>
void expect_formula(double tolerance) {
  AdamW<T> adamw(matrix_and_vector(), options());
  const Mirrored<T> parameters(3), gradient(3);
  Formula expected[3] = {{1}, {-2}, {3}};
  for (int i = 0; i < 3; ++i) parameters(i) = static_cast<T>(expected[i].p);
  for (int step = 0; step < 6; ++step) {
    const double rate = 0.1 / (1 + step);  // if the rate changes, the decay changes too
    for (int i = 0; i < 3; ++i) gradient(i) = static_cast<T>(gradient_of(i, step));
    adamw.step(Exec(), rate, parameters, gradient);
    for (int i = 0; i < 3; ++i) {
      expected[i].step(gradient_of(i, step), rate, i < 2);  // the vector does not decay
      EXPECT_NEAR(parameters(i), expected[i].p, tolerance) << "element " << i << " after step " << step;
    }
  }
}

TEST(AdamW, FollowsTheFormula) {
  expect_formula<double>(1e-14);
  expect_formula<float>(1e-6);
}

// The size of the gradient does not matter, because the bias of both moments is corrected.
TEST(AdamW, TheFirstStepIsAsLongAsTheRate) {
  for (const double g : {1e-3, 1.0, -1e6}) {
    AdamW<double> adamw(Layout::flat(1), {.name = "adamw", .epsilon = 1e-12, .weight_decay = 0});
    const Mirrored<double> parameters(1), gradient(1);
    gradient(0) = g;
    adamw.step(Exec(), 0.25, parameters, gradient);
    EXPECT_NEAR(parameters(0), g > 0 ? -0.25 : 0.25, 1e-8) << g;
  }
}

// Weight decay is decoupled: if the gradient is zero, it changes a parameter by rate x decay, and it changes no moment.
TEST(AdamW, DecaysPastTheMoments) {
  AdamW<double> adamw(matrix_and_vector(), options());
  const Mirrored<double> parameters(3), gradient(3);
  parameters.fill(2);
  for (int step = 0; step < 3; ++step) adamw.step(Exec(), 0.5, parameters, gradient);
  EXPECT_DOUBLE_EQ(parameters(0), 2 * std::pow(1 - 0.5 * 0.1, 3));
  EXPECT_EQ(parameters(2), 2) << "the vector does not decay";
  for (const MemoryView& memory : adamw.memories()) {
    const auto values = test::host_copy(static_cast<const double*>(memory.data), 1);
    EXPECT_EQ(values(0) == 0, memory.name != "powers") << memory.name;
  }
}

TEST(AdamW, PartsOfOneUpdateCountOnce) {
  AdamW<float> whole(matrix_and_vector(), options()), parts(matrix_and_vector(), options());
  const Mirrored<float> a(3), b(3), gradient(3);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 3; ++i) gradient(i) = 0.3F * static_cast<float>(i + step) - 0.4F;
    whole.step(Exec(), 0.1, a, gradient);
    parts.begin(Exec());
    parts.step(Exec(), 0.1, 2, subspan<float>(b, 2, 1), subspan<const float>(gradient, 2, 1));
    parts.step(Exec(), 0.1, 0, subspan<float>(b, 0, 2), subspan<const float>(gradient, 0, 2));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(a(i), b(i)) << "step " << step;
  }
}

TEST(Optimisers, AreFoundByNameAndRefuseBadOptions) {
  const Layout layout = matrix_and_vector();
  EXPECT_EQ(make_optimiser(layout, {})->memories().size(), 1U) << "sgd: momentum";
  EXPECT_EQ(make_optimiser(layout, options())->memories().size(), 3U);
  EXPECT_THROW(make_optimiser(layout, {.name = "lamb"}), Error);
  EXPECT_THROW(make_optimiser(layout, {.name = "adamw", .beta1 = 1}), Error);
  EXPECT_THROW(make_optimiser(layout, {.name = "adamw", .beta2 = 1}), Error);
  EXPECT_THROW(make_optimiser(layout, {.name = "adamw", .epsilon = 0}), Error);
  EXPECT_THROW(make_optimiser(layout, {.name = "adamw", .weight_decay = -1}), Error);
}

}  // namespace adamw_test
}  // namespace gradcomp::nn
