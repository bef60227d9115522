// PowerSGD: bytes, agreement with a serial reference in double, and identities (rank, energy, best
// approximation under warm start, workers = one worker on the mean, revival of dead columns).
#include "gradcomp/core/error.hpp"
#include "unit/compressors/powersgd_rig.hpp"

namespace powersgd_test {
namespace powersgd_test {

Layout resnet20() {
  Layout layout;
  const auto conv = [&](index_t in, index_t out) {
    layout.add("conv", {3, 3, in, out}).add("scale", {out}).add("shift", {out});
  };
  conv(3, 16);
  for (int i = 0; i < 6; ++i) conv(16, 16);
  conv(16, 32);
  for (int i = 0; i < 5; ++i) conv(32, 32);
  conv(32, 64);
  for (int i = 0; i < 5; ++i) conv(64, 64);
  layout.add("linear", {64, 10}).add("bias", {10});
  return layout;
}

index_t bytes_of(const Layout& layout, int rank) {
  const Entry entry = find_entry("powersgd");
  return entry.make(ParameterValues("powersgd", entry.info.parameters, {{"rank", std::to_string(rank)}}))
      ->payload_bytes(layout, 0);
}

TEST(PowerSgd, BytesAreThoseOfTheFormula) {
  EXPECT_EQ(resnet20().count(), 269722);
  EXPECT_EQ(bytes_of(resnet20(), 1), 31164);
  EXPECT_EQ(bytes_of(resnet20(), 2), 56784);
  EXPECT_EQ(bytes_of(resnet20(), 4), 108024);

  EXPECT_EQ(bytes_of(matrix(5, 3), 4), 60);             // dense, because factors would not be smaller
  EXPECT_EQ(bytes_of(resnet20().fused(), 4), 1078888);  // with granularity=bucket it is one vector
}

TEST(PowerSgd, MessagesHaveTheBytesOfTheFormula) {
  for (const int rank : {1, 3, 4, 32}) {
    Workers w(resnet20(), rank, 1);
    EXPECT_TRUE(w.step({normal_values(269722, 1)}));
    EXPECT_EQ(w.bytes, bytes_of(resnet20(), rank));
  }
  Workers none(Layout::flat(0), 4, 1);
  EXPECT_TRUE(none.step({{}}));
}

TEST(PowerSgd, LowRankMatricesAndVectorsArriveExactly) {
  for (const int rank : {1, 2, 3, 4, 7, 16}) {
    Layout layout;
    layout.add("m", {9, 17, 150}).add("v", {301}).add("n", {100, 65});
    Floats g = low_rank_matrix(153, 150, rank, 0.7, 3);
    const Floats v = normal_values(301, 4), n = low_rank_matrix(100, 65, rank, 0.7, 5);
    g.insert(g.end(), v.begin(), v.end());
    g.insert(g.end(), n.begin(), n.end());
    Workers w(layout, rank, 1);
    ASSERT_TRUE(w.step({g}));
    EXPECT_LT(std::sqrt(squared_distance(w.out, g) / squared(g)), 3e-6) << rank;
    for (std::size_t i = 153 * 150; i < 153 * 150 + 301; ++i) {
      ASSERT_EQ(w.out[i], g[i]);
      ASSERT_EQ(w.memory[0][i], 0.0f);
    }
  }
}

TEST(PowerSgd, LongRowsArriveExactly) {
  for (const int rank : {1, 2, 4, 6}) {
    const Layout layout = matrix(131, 9001);
    const Floats g = low_rank_matrix(131, 9001, rank, 0.7, 19);
    Workers w(layout, rank, 1);
    ASSERT_TRUE(w.step({g}));
    EXPECT_LT(std::sqrt(squared_distance(w.out, g) / squared(g)), 1e-5) << rank;
  }
}

// Compares one step with arithmetic in double. For any starting Q, out = P P^T M, where P is an orthonormal basis of M
// Q.
TEST(PowerSgd, IsAProjectionSoTheErrorNeverGrows) {
  for (const int rank : {1, 2, 4, 5, 32}) {
    const Layout layout = matrix(300, 130);
    const Floats g = normal_values(layout.count(), 6);
    Workers w(layout, rank, 1);
    ASSERT_TRUE(w.step({g}));
    // Because out is a projection of g, |g - out|^2 = |g|^2 - |out|^2.
    EXPECT_NEAR(squared_distance(g, w.out) / squared(g), 1 - squared(w.out) / squared(g), 1e-5);
    EXPECT_LT(squared_distance(g, w.out), squared(g));
    for (std::size_t i = 0; i < g.size(); ++i) ASSERT_EQ(w.memory[0][i], g[i] - w.out[i]);
  }
}

TEST(PowerSgd, WarmStartReachesTheBestApproximation) {
  const int rank = 3;
  const Layout layout = matrix(120, 70);
  Floats g = low_rank_matrix(120, 70, rank, 0.8, 7);
  const Floats noise = normal_values(layout.count(), 8, 0.05f);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] += noise[i];
  Workers warm(layout, rank, 1, false);
  double first = 0, last = 0;
  for (int step = 0; step < 30; ++step) {
    ASSERT_TRUE(warm.step({g}));
    last = squared_distance(g, warm.out);
    if (step == 0) first = last;
  }
  // A converged subspace iteration keeps the best |out|, and a long run with another seed finds the same value.
  Workers other(matrix(120, 70), rank, 1, false);
  other.number = 1000;
  for (int step = 0; step < 60; ++step) ASSERT_TRUE(other.step({g}));
  EXPECT_LT(last, first * 0.999);
  EXPECT_NEAR(last, squared_distance(g, other.out), 1e-5 * squared(g));
  // The matrix has rank 3 plus noise of variance 0.0025. The best fit of rank 3 leaves the noise of (120 - 3)(70 - 3)
  // cells.
  EXPECT_NEAR(last, 117 * 67 * 0.0025, 0.05 * 117 * 67 * 0.0025);
}

TEST(PowerSgd, WorkersEqualOneWorkerOnTheMeanGradient) {
  Layout layout;
  layout.add("m", {90, 40}).add("v", {33}).add("n", {64, 128});
  const auto n = layout.count();
  Workers four(layout, 2, 4), one(layout, 2, 1);
  for (int step = 0; step < 8; ++step) {
    std::vector<Floats> gradients;
    Floats mean(static_cast<std::size_t>(n), 0);
    const Floats common = normal_values(n, static_cast<unsigned>(100 + step));
    for (unsigned w = 0; w < 4; ++w) {
      gradients.push_back(normal_values(n, static_cast<unsigned>(10 * step) + w));
      for (std::size_t i = 0; i < mean.size(); ++i) {
        gradients.back()[i] += common[i];
        mean[i] += gradients.back()[i] / 4;
      }
    }
    ASSERT_TRUE(four.step(gradients));
    ASSERT_TRUE(one.step({mean}));
    EXPECT_LT(std::sqrt(squared_distance(four.out, one.out) / squared(one.out)), 2e-4) << step;
  }
  Floats mean_memory(static_cast<std::size_t>(n), 0);
  for (const auto& m : four.memory) {
    for (std::size_t i = 0; i < m.size(); ++i) mean_memory[i] += m[i] / 4;
  }
  EXPECT_LT(std::sqrt(squared_distance(mean_memory, one.memory[0]) / squared(one.memory[0])), 2e-4);
}

TEST(PowerSgd, ErrorFeedbackTelescopes) {
  const Layout layout = resnet20();
  Workers w(layout, 4, 1);
  Floats received(static_cast<std::size_t>(layout.count()), 0), total(received);
  for (unsigned step = 0; step < 10; ++step) {
    const Floats g = normal_values(layout.count(), step, 1e-3f);
    ASSERT_TRUE(w.step({g}));
    for (std::size_t i = 0; i < g.size(); ++i) {
      received[i] += w.out[i];
      total[i] += g[i];
    }
  }
  for (std::size_t i = 0; i < total.size(); ++i) ASSERT_NEAR(received[i] + w.memory[0][i], total[i], 1e-7);
}

TEST(PowerSgd, ColumnsThatDiedLiveAgain) {
  const Layout layout = matrix(80, 60);
  Workers w(layout, 3, 1, false);
  const Floats zero(static_cast<std::size_t>(layout.count()), 0), thin = low_rank_matrix(80, 60, 1, 1, 9);
  const Floats full = low_rank_matrix(80, 60, 3, 0.9, 10);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(w.step({zero}));
    EXPECT_EQ(squared(w.out), 0);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(w.step({thin}));
    EXPECT_LT(std::sqrt(squared_distance(w.out, thin) / squared(thin)), 1e-5);
  }
  ASSERT_TRUE(w.step({full}));
  EXPECT_LT(std::sqrt(squared_distance(w.out, full) / squared(full)), 1e-5);
}

TEST(PowerSgd, ScaleOfTheGradientDoesNotMatter) {
  const Layout layout = matrix(80, 60);
  const Floats g = normal_values(layout.count(), 11);
  Workers unit(layout, 2, 1, false);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(unit.step({g}));
  for (const float scale : {0x1p-100f, 0x1p-30f, 0x1p60f, 0x1p110f}) {
    Floats scaled = g;
    for (float& v : scaled) v *= scale;
    Workers w(layout, 2, 1, false);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(w.step({scaled}));
    double difference = 0;
    for (std::size_t i = 0; i < g.size(); ++i)
      difference += std::pow(static_cast<double>(w.out[i] / scale) - unit.out[i], 2);
    EXPECT_LT(std::sqrt(difference / squared(unit.out)), 1e-5) << scale;
  }
}

TEST(PowerSgd, EveryRankSeesASumThatOverflows) {
  Workers w(matrix(50, 40), 2, 2);
  EXPECT_FALSE(w.step({Floats(2000, 3e38f), Floats(2000, 3e38f)}));
}

}  // namespace powersgd_test
}  // namespace powersgd_test
