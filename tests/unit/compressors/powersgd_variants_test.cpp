// Options and variants of PowerSGD: convergence to the best approximation for known singular values, dense first steps,
// one factor per step, the unbiased random factor, orthonormal factors.
#include "unit/compressors/powersgd_rig.hpp"

namespace powersgd_test {
namespace powersgd_variants_test {

Given options(const std::string& variant, int rank, Given more = {}) {
  more.merge(Given{{"variant", variant}, {"rank", std::to_string(rank)}});
  return more;
}

const std::vector<std::string> variants = {"two_sided", "cold", "one_sided", "unbiased"};

/// Column k of the discrete cosine transform of size n. The columns are orthonormal.
double cosine(index_t n, int k, index_t i) {
  return std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(n)) *
         std::cos(M_PI * (static_cast<double>(i) + 0.5) * k / static_cast<double>(n));
}

/// A rows x columns matrix with these singular values.
Floats with_singular_values(index_t rows, index_t columns, const std::vector<double>& values) {
  Floats m(static_cast<std::size_t>(rows * columns));
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        sum += values[k] * cosine(rows, static_cast<int>(k), i) * cosine(columns, static_cast<int>(k), j);
      }
      m[static_cast<std::size_t>(i * columns + j)] = static_cast<float>(sum);
    }
  }
  return m;
}

Floats factor(const Message& message, index_t first, index_t count) {
  const float* const data = static_cast<const float*>(message.result) + first;
  return {data, data + count};
}

/// Largest |P^T P - I|.
double off_orthonormal(const Floats& p, index_t rows, int rank) {
  double worst = 0;
  for (int i = 0; i < rank; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? -1 : 0;
      for (index_t e = 0; e < rows; ++e) {
        sum +=
            static_cast<double>(p[static_cast<std::size_t>(i * rows + e)]) * p[static_cast<std::size_t>(j * rows + e)];
      }
      worst = std::max(worst, std::fabs(sum));
    }
  }
  return worst;
}

// Eckart and Young: no matrix of rank r is closer than sqrt(sum over k > r of s_k^2).
TEST(PowerSgdVariants, WarmStartConvergesToTheBestApproximation) {
  const std::vector<double> values = {3, 2.5, 2, 1, 0.7, 0.5, 0.3, 0.2};
  const Layout layout = matrix(60, 45);
  const Floats m = with_singular_values(60, 45, values);
  for (const std::string variant : {"two_sided", "one_sided"}) {
    for (const std::string method : {"gram_schmidt", "householder"}) {
      for (const int rank : {1, 3, 4}) {
        double best = 0;
        for (std::size_t k = static_cast<std::size_t>(rank); k < values.size(); ++k) best += values[k] * values[k];
        Workers w(layout, options(variant, rank, {{"orthogonalise", method}}), 1, false);
        double first = 0, last = 0, previous = INFINITY;
        for (int step = 0; step < 60; ++step) {
          ASSERT_TRUE(w.step({m}));
          last = std::sqrt(squared_distance(m, w.out));
          if (step == 0) first = last;
          EXPECT_GE(last, std::sqrt(best) * (1 - 1e-5)) << variant << " " << rank;
          EXPECT_LE(last, previous * (1 + 1e-5)) << variant << " " << rank << " step " << step;
          previous = last;
        }
        EXPECT_GT(first, 1.02 * std::sqrt(best)) << variant << " " << rank;
        EXPECT_NEAR(last, std::sqrt(best), 1e-4 * std::sqrt(best)) << variant << " " << method << " " << rank;
      }
    }
  }
}

TEST(PowerSgdVariants, ColdStartsLearnNothingFromTheStepsBefore) {
  const Floats m = with_singular_values(60, 45, {3, 2.5, 2, 1, 0.7, 0.5, 0.3, 0.2});
  const double best = std::sqrt(1 + 0.49 + 0.25 + 0.09 + 0.04);  // distance of the best matrix of rank 3
  const Layout layout = matrix(60, 45);
  Workers cold(layout, options("cold", 3), 1, false), warm(layout, options("two_sided", 3), 1, false);
  double sum = 0;
  Floats previous;
  for (int step = 0; step < 20; ++step) {
    ASSERT_TRUE(cold.step({m}));
    ASSERT_TRUE(warm.step({m}));
    EXPECT_EQ(cold.out == warm.out, step == 0) << "the first step of both starts from the same random factor";
    EXPECT_NE(cold.out, previous) << "every step has its own random factor";
    EXPECT_GE(std::sqrt(squared_distance(m, cold.out)), best * (1 - 1e-5));
    sum += std::sqrt(squared_distance(m, cold.out));
    previous = cold.out;
  }
  EXPECT_GT(sum / 20, 1.02 * best);
}

TEST(PowerSgdVariants, HouseholderFactorsAreOrthonormalWhateverTheGradient) {
  const Layout layout = matrix(60, 45);
  for (const int true_rank : {0, 1, 2, 4}) {
    const Floats m = low_rank_matrix(60, 45, true_rank, 1e-3, 3);
    Workers w(layout, options("two_sided", 4, {{"orthogonalise", "householder"}}), 1, false);
    for (int step = 0; step < 4; ++step) {
      ASSERT_TRUE(w.step({m}));
      EXPECT_LT(off_orthonormal(factor(w.rounds[0][0], 0, 240), 60, 4), 1e-5) << true_rank << " step " << step;
      EXPECT_LE(squared_distance(w.out, m), 1e-10 * squared(m)) << true_rank;
    }
  }
}

// P (mean over ranks of Q_w)^T = mean over ranks of P Q_w^T, so that sums of factors can travel instead of products.
TEST(PowerSgdVariants, DecodedSumIsTheSumOfDecodedFactors) {
  const int rank = 2, ranks = 4;
  const Layout layout = matrix(40, 30);
  std::vector<Floats> gradients;
  for (unsigned i = 0; i < ranks; ++i) gradients.push_back(normal_values(1200, i));
  Workers w(layout, rank, ranks, false);
  ASSERT_TRUE(w.step(gradients));
  const Floats p = factor(w.rounds[0][0], 0, 40 * rank);
  double error = 0;
  for (index_t i = 0; i < 40; ++i) {
    for (index_t j = 0; j < 30; ++j) {
      double mean = 0;
      for (const Message& own : w.rounds[1]) {
        const auto* const q = static_cast<const float*>(own.data);
        for (index_t k = 0; k < rank; ++k)
          mean += static_cast<double>(p[static_cast<std::size_t>(k * 40 + i)]) * q[k * 30 + j] / ranks;
      }
      error += std::pow(mean - w.out[static_cast<std::size_t>(i * 30 + j)], 2);
    }
  }
  EXPECT_LT(std::sqrt(error / squared(w.out)), 1e-6);
  EXPECT_GT(squared(w.out), 0.01 * squared(gradients[0]) / ranks);
}

TEST(PowerSgdVariants, WorkersEqualOneWorkerOnTheMeanGradient) {
  Layout layout;
  layout.add("m", {50, 40}).add("v", {33}).add("n", {3, 12, 40});
  const auto n = static_cast<std::size_t>(layout.count());
  for (const auto& variant : variants) {
    for (const std::string start : {"0", "2"}) {
      for (const int workers : {1, 2, 4, 8}) {
        const bool feedback = variant != "unbiased";
        const Given given = options(variant, 2, {{"start_step", start}});
        Workers many(layout, given, workers, feedback), one(layout, given, 1, feedback);
        for (unsigned step = 0; step < 6; ++step) {
          const Floats common = normal_values(layout.count(), 100 + step);
          std::vector<Floats> gradients;
          Floats mean(n, 0);
          for (unsigned w = 0; w < static_cast<unsigned>(workers); ++w) {
            gradients.push_back(normal_values(layout.count(), 10 * step + w));
            for (std::size_t i = 0; i < n; ++i) {
              gradients.back()[i] += common[i];
              mean[i] += gradients.back()[i] / static_cast<float>(workers);
            }
          }
          ASSERT_TRUE(many.step(gradients));
          ASSERT_TRUE(one.step({mean}));
          EXPECT_EQ(many.bytes, one.bytes);
          EXPECT_LT(std::sqrt(squared_distance(many.out, one.out) / squared(one.out)), 5e-4)
              << variant << " " << workers << " workers, step " << step;
        }
      }
    }
  }
}

TEST(PowerSgdVariants, ZeroGradientsAndThenOthers) {
  const Layout layout = matrix(50, 40);
  const Floats zero(2000, 0), thin = low_rank_matrix(50, 40, 1, 1, 9), full = low_rank_matrix(50, 40, 3, 0.9, 10);
  for (const std::string variant : {"two_sided", "one_sided"}) {
    for (const std::string method : {"gram_schmidt", "householder"}) {
      Workers w(layout, options(variant, 3, {{"orthogonalise", method}}), 1, false);
      for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(w.step({zero}));
        EXPECT_EQ(squared(w.out), 0) << variant;
      }
      for (const Floats& gradient : {thin, full, thin, zero, full}) {
        for (int i = 0; i < 4; ++i)
          ASSERT_TRUE(w.step({gradient}));  // a method that sends one side at a time needs two steps to follow
        EXPECT_LE(squared_distance(w.out, gradient), 1e-10 * squared(gradient)) << variant << " " << method;
      }
    }
  }
  Workers unbiased(layout, options("unbiased", 3), 1, false);
  ASSERT_TRUE(unbiased.step({zero}));
  EXPECT_EQ(squared(unbiased.out), 0);
}

TEST(PowerSgdVariants, OneSidedSendsOneFactorInTurn) {
  const Layout layout = matrix(50, 40);
  const Floats g = normal_values(2000, 1);
  Workers two(layout, options("two_sided", 3), 1), one(layout, options("one_sided", 3), 1);
  ASSERT_TRUE(two.step({g}));
  EXPECT_EQ(two.bytes, 4 * 3 * (50 + 40));
  for (const index_t bytes : {4 * 3 * 50, 4 * 3 * 40, 4 * 3 * 50, 4 * 3 * 40}) {
    ASSERT_TRUE(one.step({g}));
    EXPECT_EQ(one.bytes, bytes);
    EXPECT_LE(one.bytes, one.method->payload_bytes(layout, 0));
    // out is a projection from one side, so |a - out|^2 = |a|^2 - |out|^2, where a = out + memory.
    Floats a = one.out;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += one.memory[0][i];
    EXPECT_NEAR(squared_distance(a, one.out) / squared(a), 1 - squared(one.out) / squared(a), 1e-5);
  }
  EXPECT_EQ(one.method->rounds(), 1);
  EXPECT_EQ(one.method->payload_bytes(layout, 0), 4 * 3 * 50);
  EXPECT_FALSE(one.method->info().fixed_bytes);
}

TEST(PowerSgdVariants, MinRateChoosesTheMatrices) {
  const Layout layout = matrix(40, 30);  // 1200 elements, factors of rank 4: 280
  for (const auto& [rate, bytes] : std::map<std::string, index_t>{{"1", 1120}, {"4.28", 1120}, {"4.29", 4800}}) {
    Workers w(layout, options("two_sided", 4, {{"min_rate", rate}}), 1);
    ASSERT_TRUE(w.step({normal_values(1200, 1)}));
    EXPECT_EQ(w.bytes, bytes) << rate;
    EXPECT_EQ(w.method->payload_bytes(layout, 0), bytes);
  }
}

TEST(PowerSgdVariants, StepsBeforeTheStartAreDense) {
  Layout layout;
  layout.add("v", {33}).add("m", {50, 40});
  const index_t n = layout.count();
  for (const auto& variant : variants) {
    for (const bool feedback : {false, true}) {
      if (feedback && variant == "unbiased") continue;
      Workers w(layout, options(variant, 2, {{"start_step", "3"}}), 2, feedback);
      Workers immediate(layout, options(variant, 2), 2, feedback);
      immediate.number = 3;
      for (unsigned step = 0; step < 6; ++step) {
        const std::vector<Floats> gradients = {normal_values(n, step), normal_values(n, 50 + step)};
        ASSERT_TRUE(w.step(gradients));
        if (step < 3) {
          EXPECT_EQ(w.bytes, 4 * n);
          for (std::size_t i = 0; i < w.out.size(); ++i) {
            ASSERT_EQ(w.out[i], (gradients[0][i] + gradients[1][i]) / 2);
            if (feedback) {
              ASSERT_EQ(w.memory[0][i], 0.0f);
            }
          }
        } else {  // the same as in a job that starts here
          ASSERT_TRUE(immediate.step(gradients));
          EXPECT_EQ(w.out, immediate.out) << variant << " step " << step;
          EXPECT_EQ(w.bytes, immediate.bytes);
          EXPECT_LT(w.bytes, n);
        }
        EXPECT_LE(w.bytes, w.method->payload_bytes(layout, 0));
      }
      EXPECT_FALSE(w.method->info().fixed_bytes);
    }
  }
}

TEST(PowerSgdVariants, NonFiniteGradientsEnterNoFactor) {
  Layout layout;
  layout.add("v", {33}).add("m", {50, 40});
  for (const auto& variant : variants) {
    for (const float poison : {NAN, INFINITY}) {
      Workers w(layout, options(variant, 2), 2, variant != "unbiased");
      std::vector<Floats> gradients = {normal_values(layout.count(), 1), normal_values(layout.count(), 2)};
      ASSERT_TRUE(w.step(gradients));
      gradients[1][40] = poison;
      EXPECT_FALSE(w.step(gradients)) << variant;
      for (const auto& state : w.states) {
        for (const MemoryView& view : state->memories()) {
          const auto* const values = static_cast<const float*>(view.data);
          for (index_t i = 0; i < view.bytes / 4; ++i) ASSERT_TRUE(std::isfinite(values[i])) << variant << view.path();
        }
      }
    }
  }
}

// E out = M, with the variance of the sum over k of M_ik u_k u_j / r, which is (|row i|^2 + (m4 - 2) M_ij^2) / r, where
// m4 is the fourth moment.
TEST(PowerSgdVariants, UnbiasedHasItsMeanAndItsVariance) {
  constexpr int trials = 4096, rank = 2;
  constexpr double fourth = 3 - 1.2 / 8;
  const Layout layout = matrix(16, 12);
  const Floats m = normal_values(192, 21);
  Workers w(layout, options("unbiased", rank), 1, false);
  std::vector<double> sum(192), square(192);
  for (int t = 0; t < trials; ++t) {
    ASSERT_TRUE(w.step({m}));
    for (std::size_t i = 0; i < 192; ++i) {
      const double error = static_cast<double>(w.out[i]) - m[i];
      sum[i] += error;
      square[i] += error * error;
    }
  }
  EXPECT_EQ(w.bytes, 4 * rank * 16);
  double measured = 0, expected = 0;
  for (std::size_t i = 0; i < 192; ++i) {
    double row = 0;
    for (std::size_t j = i / 12 * 12; j < i / 12 * 12 + 12; ++j) row += static_cast<double>(m[j]) * m[j];
    const double variance = (row + (fourth - 2) * m[i] * m[i]) / rank;
    EXPECT_LT(std::fabs(sum[i]) / std::sqrt(variance * trials), 6) << i;
    EXPECT_NEAR(square[i] / trials, variance, 0.3 * variance) << i;  // the error has heavy tails
    measured += square[i] / trials;
    expected += variance;
  }
  EXPECT_NEAR(measured, expected, 0.05 * expected);
  EXPECT_NEAR(expected, (12 - 2 + fourth) / rank * squared(m), 1e-6 * expected);
}

// Vogels et al. 2019, table 1: the biased variant with feedback beats the unbiased one. Both do gradient descent on
// |X - X*|^2 / 2 with a suitable rate; for the unbiased variant, 1 / (1 + w) with w = (columns + 1) / r is the best.
TEST(PowerSgdVariants, BiasedWithFeedbackDescendsFasterThanUnbiased) {
  const Layout layout = matrix(40, 30);
  const Floats target = normal_values(1200, 31);
  const auto descend = [&](const std::string& variant, double rate) {
    Workers w(layout, options(variant, 2), 1, variant != "unbiased");
    Floats x(1200, 0), gradient(1200);
    for (int step = 0; step < 200; ++step) {
      for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = x[i] - target[i];
      EXPECT_TRUE(w.step({gradient}));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= static_cast<float>(rate) * w.out[i];
    }
    return squared_distance(x, target) / squared(target);
  };
  const double unbiased = descend("unbiased", 1 / (1 + 31.0 / 2)), biased = descend("two_sided", 0.06);
  EXPECT_LT(unbiased, 0.1);
  EXPECT_LT(biased, 0.01 * unbiased);
}

TEST(PowerSgdVariants, UnbiasedRefusesFeedback) {
  const Entry entry = find_entry("powersgd");
  const auto method = entry.make(ParameterValues("powersgd", entry.info.parameters, options("unbiased", 2)));
  EXPECT_EQ(method->info().feedbacks, std::vector<std::string>{"none"});
  EXPECT_EQ(method->info().property, Info::Property::unbiased);
  EXPECT_EQ(entry.info.feedbacks, (std::vector<std::string>{"none", "residual"}));
}

}  // namespace powersgd_variants_test
}  // namespace powersgd_test
