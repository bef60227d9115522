// gemm against a plain triple loop in double; extents, transposes, alpha and beta; refusals.
#include "gradcomp/kernels/blas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp::kernels {
namespace {

Vector<float> device(const std::vector<float>& values) {
  Vector<float> d("values", values.size());
  const auto mirror = Kokkos::create_mirror_view(d);
  for (std::size_t i = 0; i < values.size(); ++i) mirror(i) = values[i];
  Kokkos::deep_copy(d, mirror);
  return d;
}

std::vector<float> random_values(index_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(engine);
  return values;
}

void expect_gemm(const GemmShape& s, Transpose ta, Transpose tb, float alpha, float beta) {
  const auto a = random_values(s.rows * s.inner, 1), b = random_values(s.inner * s.columns, 2);
  const auto c = random_values(s.rows * s.columns, 3);
  const Vector<float> da = device(a), db = device(b), dc = device(c);
  gemm(Exec(), ta, tb, s, alpha, da, db, beta, dc);
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dc);
  for (index_t i = 0; i < s.rows; ++i) {
    for (index_t j = 0; j < s.columns; ++j) {
      double sum = 0, size = 0;
      for (index_t k = 0; k < s.inner; ++k) {
        const double x = a[static_cast<std::size_t>(ta == Transpose::yes ? k * s.rows + i : i * s.inner + k)];
        const double y = b[static_cast<std::size_t>(tb == Transpose::yes ? j * s.inner + k : k * s.columns + j)];
        sum += x * y;
        size += std::abs(x * y);
      }
      const auto at = static_cast<std::size_t>(i * s.columns + j);
      EXPECT_NEAR(result(at), alpha * sum + beta * c[at], 1e-6 * (size + 1)) << i << "," << j;
    }
  }
}

TEST(Gemm, EqualsTheTripleLoop) {
  for (const auto ta : {Transpose::no, Transpose::yes}) {
    for (const auto tb : {Transpose::no, Transpose::yes}) {
      expect_gemm({5, 7, 3}, ta, tb, 1, 0);
      expect_gemm({64, 10, 33}, ta, tb, -0.5f, 2);
      expect_gemm({1, 1, 100}, ta, tb, 1, 1);
      expect_gemm({3, 4, 0}, ta, tb, 1, 0);
    }
  }
  expect_gemm({0, 4, 3}, Transpose::no, Transpose::no, 1, 0);
}

TEST(Gemm, BetaZeroIgnoresNaN) {
  const Vector<float> a = device({2}), b = device({3}), c = device({NAN});
  gemm(Exec(), Transpose::no, Transpose::no, {1, 1, 1}, 1, a, b, 0, c);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c)(0), 6.0f);
}

TEST(Gemm, RefusesShortArraysAndHugeExtents) {
  const Vector<float> a = device({1, 2, 3});
  EXPECT_THROW(gemm(Exec(), Transpose::no, Transpose::no, {2, 2, 2}, 1, a, a, 0, a), Error);
  EXPECT_THROW(gemm(Exec(), Transpose::no, Transpose::no, {index_t{1} << 31, 0, 0}, 1, a, a, 0, a), Error);
}

TEST(Gemm, PeakIsPlausible) {
  const double peak = sgemm_peak(Exec());
  EXPECT_GT(peak, 0.5);
  EXPECT_LT(peak, 1e6);
  EXPECT_FALSE(blas_description().empty());
}

}  // namespace
}  // namespace gradcomp::kernels
