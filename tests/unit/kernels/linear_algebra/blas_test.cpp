// Compares gemm with a plain triple loop in double: extents, transposes, alpha and beta. Also what it refuses.
#include "gradcomp/kernels/linear_algebra/blas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp::kernels {
namespace blas_test {

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
  for (const GemmShape& empty : {GemmShape{0, 4, 3}, {4, 0, 3}}) expect_gemm(empty, Transpose::no, Transpose::no, 1, 0);
  for (const auto ta : {Transpose::no, Transpose::yes}) expect_gemm({257, 129, 1031}, ta, Transpose::no, 1, 0);
}

/// The only element of a product of a row and a column with this number of elements.
float product(const std::vector<float>& a, const std::vector<float>& b, float beta, float c) {
  const Vector<float> da = device(a), db = device(b), dc = device({c});
  const auto inner = static_cast<index_t>(a.size());
  gemm(Exec(), Transpose::no, Transpose::no, {1, 1, inner}, 1, da, db, beta, dc);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dc)(0);
}

TEST(Gemm, BetaZeroIgnoresNaN) {
  EXPECT_EQ(product({2}, {3}, 0, NAN), 6.0f);
  EXPECT_EQ(product({}, {}, 0, NAN), 0.0f);
}

TEST(Gemm, KeepsWhatIsNotFiniteAndWhatIsTiny) {
  EXPECT_TRUE(std::isnan(product({1, NAN, 0}, {1, 1, 1}, 0, 0)));
  EXPECT_TRUE(std::isnan(product({1, 2}, {1, 2}, 1, NAN)));
  EXPECT_TRUE(std::isnan(product({0, 1}, {INFINITY, 1}, 0, 0)));
  EXPECT_EQ(product({2, 1}, {-INFINITY, 1}, 0, 0), -INFINITY);
  EXPECT_EQ(product({0, 0}, {1, 2}, 0, 0), 0.0f);
  EXPECT_EQ(product({0x1p-140f, 0x1p-149f}, {0x1p100f, 0x1p100f}, 0, 0), 0x1p-40f + 0x1p-49f);
  EXPECT_EQ(product({0x1p-75f}, {0x1p-74f}, 0, 0), 0x1p-149f);
}

// The elements of a column of a wider matrix lie `step` apart.
TEST(Gemm, TakesOneColumnOfWiderMatrices) {
  constexpr index_t rows = 4, inner = 3, step = 5;
  const auto a = random_values(rows * step, 4), b = random_values(inner * step, 5);
  const Vector<float> da = device(a), db = device(b), dc = device(std::vector<float>(rows * step, 7));
  gemm<float>(Exec(), Transpose::no, Transpose::no, {rows, 1, inner}, 1, {da.data(), step}, {db.data(), step}, 0,
              {dc.data(), step});
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dc);
  for (index_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (index_t k = 0; k < inner; ++k) sum += double{a[i * step + k]} * double{b[k * step]};
    EXPECT_NEAR(result(i * step), sum, 1e-5) << i;
    for (index_t j = 1; j < step; ++j) EXPECT_EQ(result(i * step + j), 7) << i << "," << j;
  }
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
}

TEST(Gemm, SaysWhatDoesTheWork) {
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
  EXPECT_THAT(blas_description(), testing::StartsWith("KokkosBlas "));
#else
  EXPECT_THAT(blas_description(), testing::AnyOf(testing::StartsWith("OpenBLAS "), "CBLAS"));
#endif
}

}  // namespace blas_test
}  // namespace gradcomp::kernels
