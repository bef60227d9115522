#include "gradcomp/kernels/random/random_subset.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace random_subset_test {

Subset subset_of(index_t n, index_t k, std::uint64_t seed, std::int64_t step) {
  return draw_subset(Layout::flat(n).segments[0], k, 0, seed, step);
}

TEST(RandomSubset, IndicesAreDistinctAndInRange) {
  for (const index_t n : {1, 2, 3, 31, 100, 1009, 65536}) {
    for (const index_t k : {index_t{1}, n / 3, n - 1, n}) {
      if (k < 1) continue;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Subset subset = subset_of(n, k, seed, 7);
        std::set<index_t> seen;
        for (index_t j = 0; j < k; ++j) {
          const index_t i = subset_index(subset, j);
          ASSERT_GE(i, 0);
          ASSERT_LT(i, n);
          ASSERT_TRUE(seen.insert(i).second) << "n=" << n << " k=" << k << " index " << i << " twice";
        }
      }
    }
  }
}

/// Chi-square statistic of how often each of n elements was chosen in `draws` draws of k elements. It is divided by 1 -
/// p, because a draw without replacement has the variance p (1 - p) per element.
double chi_square(index_t n, index_t k, int draws, bool by_step) {
  std::vector<double> hits(static_cast<std::size_t>(n));
  for (int d = 0; d < draws; ++d) {
    const Subset subset = by_step ? subset_of(n, k, 1, d) : subset_of(n, k, static_cast<std::uint64_t>(d), 0);
    for (index_t j = 0; j < k; ++j) ++hits[static_cast<std::size_t>(subset_index(subset, j))];
  }
  const double p = static_cast<double>(k) / static_cast<double>(n), mean = draws * p;
  double chi = 0;
  for (const double h : hits) chi += (h - mean) * (h - mean) / (mean * (1 - p));
  return chi;
}

TEST(RandomSubset, EveryElementIsChosenAlike) {
  // With n - 1 degrees of freedom, the mean is n - 1 and the standard deviation is about sqrt(2 n). 10 does not divide
  // 1007.
  for (const bool by_step : {false, true}) {
    const index_t n = 1007;
    for (const index_t k : {1, 10, 100, 700}) {
      const double chi = chi_square(n, k, 20000, by_step);
      EXPECT_NEAR(chi, static_cast<double>(n - 1), 5 * std::sqrt(2.0 * static_cast<double>(n))) << k;
    }
  }
}

TEST(RandomSubset, ChiSquareSeesADoubledElement) {  // the test above can fail
  const index_t n = 1007;
  std::vector<double> hits(static_cast<std::size_t>(n), 200.0);
  hits[5] = 400;
  double chi = 0;
  for (const double h : hits) chi += (h - 200) * (h - 200) / 200;
  EXPECT_GT(chi, 199);
}

TEST(RandomSubset, SegmentsAndStepsDrawDifferently) {
  Layout layout;
  layout.add("a", {1000}).add("b", {1000});
  const auto draw = [&](std::size_t s, std::uint64_t seed, std::int64_t step) {
    const Subset subset = draw_subset(layout.segments[s], 50, 0, seed, step);
    std::set<index_t> set;
    for (index_t j = 0; j < 50; ++j) set.insert(subset_index(subset, j) - layout.segments[s].offset);
    return set;
  };
  EXPECT_EQ(draw(0, 1, 1), draw(0, 1, 1));
  EXPECT_NE(draw(0, 1, 1), draw(1, 1, 1));
  EXPECT_NE(draw(0, 1, 1), draw(0, 2, 1));
  EXPECT_NE(draw(0, 1, 1), draw(0, 1, 2));
}

TEST(RandomSubset, GatherTakesAndScatterReturns) {
  Layout bucket, message;
  bucket.add("a", {5000}).add("b", {0}).add("c", {33});
  message.add("a", {500}).add("b", {0}).add("c", {33});
  const index_t n = bucket.count(), k = message.count();
  const auto x = sparse_test::make_input("gauss", n);
  const Vector<float> gradient("g", x.size()), memory("m", x.size()), values("v", static_cast<std::size_t>(k));
  Kokkos::deep_copy(memory, Kokkos::View<const float*, Kokkos::HostSpace>(x.data(), x.size()));
  const Source source{Source::Kind::residual, n, gradient.data(), memory.data(), 1, 1};
  const Tiles entries(message);
  const Vector<Subset> subsets("s", 3);
  const Vector<float> weights("w", 3);
  const auto host = Kokkos::create_mirror_view(subsets);
  for (std::size_t s = 0; s < 3; ++s)
    host(s) = draw_subset(bucket.segments[s], message.segments[s].count, message.segments[s].offset, 3, 4);
  Kokkos::deep_copy(subsets, host);
  Kokkos::deep_copy(weights, 1.0f);
  const Exec exec;
  gather_subsets(exec, entries, subsets, source, values);
  exec.fence();
  auto left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, memory);
  const auto sent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values);
  index_t zeros = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    zeros += left(i) == 0 ? 1 : 0;
    if (left(i) != 0) {
      ASSERT_EQ(left(i), x[i]);
    }
  }
  EXPECT_EQ(zeros, k);
  EXPECT_EQ(sent(0), x[static_cast<std::size_t>(subset_index(host(0), 0))]);
  scatter_subsets(exec, entries, subsets, weights, values, memory);
  exec.fence();
  left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, memory);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(left(i), x[i]);
}

}  // namespace random_subset_test
}  // namespace gradcomp::kernels
