#include "gradcomp/nn/optimisers/sgd.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/optimisers/learning_rate.hpp"
#include "unit/nn/mirrored.hpp"

namespace gradcomp::nn {
namespace sgd_test {

using test::Mirrored;

Layout matrix_and_vector() { return Layout{}.add("w", {2, 1}).add("b", {1}); }

TEST(Sgd, FollowsTheFormula) {
  for (const std::string nesterov : {"off", "on", "powersgd"}) {
    Sgd<double> sgd(matrix_and_vector(), {.momentum = 0.5, .form = momentum_form(nesterov), .weight_decay = 0.1});
    const Mirrored<double> parameters(3), gradient(3);
    double p[3] = {1, 2, 3}, v[3] = {};
    for (int i = 0; i < 3; ++i) parameters(i) = p[i];
    for (int step = 0; step < 4; ++step) {
      for (int i = 0; i < 3; ++i) gradient(i) = 0.25 * i - 0.125 * step;
      sgd.step(Exec(), 0.2, parameters, gradient);
      for (int i = 0; i < 3; ++i) {
        const double g = gradient(i) + (i < 2 ? 0.1 * p[i] : 0);  // the vector does not decay
        v[i] = 0.5 * v[i] + g;
        p[i] -= 0.2 * (nesterov == "off" ? v[i] : g + (nesterov == "on" ? 0.5 : 1) * v[i]);
        EXPECT_NEAR(parameters(i), p[i], 1e-14);
      }
    }
  }
}

TEST(Sgd, BucketsGiveTheBitsOfTheWhole) {
  Sgd<float> whole(matrix_and_vector(), {}), parts(matrix_and_vector(), {});
  const Mirrored<float> a(3), b(3), gradient(3);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 3; ++i) gradient(i) = 0.3f * static_cast<float>(i + step);
    whole.step(Exec(), 0.1, a, gradient);
    parts.step(Exec(), 0.1, 2, subspan<float>(b, 2, 1), subspan<const float>(gradient, 2, 1));
    parts.step(Exec(), 0.1, 0, subspan<float>(b, 0, 2), subspan<const float>(gradient, 0, 2));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(a(i), b(i));
  }
}

TEST(Sgd, RefusesBadOptions) {
  EXPECT_THROW(Sgd<float>(matrix_and_vector(), {.momentum = 1.0}), Error);
  EXPECT_THROW(Sgd<float>(matrix_and_vector(), {.weight_decay = -1.0}), Error);
  EXPECT_THROW(momentum_form("true"), Error);
}

TEST(LearningRate, WarmsUpAndDecays) {
  LearningRate rate{.decay = Decay::cosine, .rate = 2, .steps = 110, .warmup = 10};
  EXPECT_DOUBLE_EQ(rate.at(0), 0.2);
  EXPECT_DOUBLE_EQ(rate.at(9), 2);
  EXPECT_DOUBLE_EQ(rate.at(10), 2);
  EXPECT_NEAR(rate.at(60), 1, 1e-12);
  EXPECT_NEAR(rate.at(110), 0, 1e-12);
  EXPECT_NEAR(rate.at(500), 0, 1e-12);
  rate = {.decay = Decay::step, .rate = 1, .steps = 100, .factor = 0.5, .milestones = {0.5, 0.75}};
  EXPECT_DOUBLE_EQ(rate.at(49), 1);
  EXPECT_DOUBLE_EQ(rate.at(50), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(75), 0.25);
  EXPECT_DOUBLE_EQ((LearningRate{.rate = 0.3}).at(1000), 0.3);
}

TEST(LearningRate, NamesWhatIsAllowed) {
  EXPECT_EQ(decay_from_name("cosine"), Decay::cosine);
  try {
    decay_from_name("linear");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown learning-rate schedule 'linear': allowed are constant, cosine, step");
  }
}

}  // namespace sgd_test
}  // namespace gradcomp::nn
