// Gram-Schmidt and Householder in batches: orthonormal columns, dead columns, scales, and reproducible starting
// factors.
#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gradcomp/kernels/linear_algebra/householder.hpp"

namespace gradcomp::kernels {
namespace orthogonalise_test {

/// The columns of a matrix on the host.
using Columns = std::vector<std::vector<double>>;

struct Batch {
  /// Matrices of {rows, columns}, one after the other.
  explicit Batch(const std::vector<std::pair<index_t, index_t>>& shapes) : matrices("matrices", shapes.size()) {
    const auto host = Kokkos::create_mirror_view(matrices);
    index_t total = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      host(i) = {total, shapes[i].first, shapes[i].second};
      total += shapes[i].first * shapes[i].second;
    }
    Kokkos::deep_copy(matrices, host);
    data = Vector<float>("data", static_cast<std::size_t>(total));
  }
  void fill(unsigned seed, float scale = 1) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    const auto host = Kokkos::create_mirror_view(data);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = scale * normal(engine);
    Kokkos::deep_copy(data, host);
  }
  Columns columns(std::size_t matrix) const {
    const auto shapes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrices);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), data);
    const ColumnMatrix m = shapes(matrix);
    Columns result;
    for (index_t k = 0; k < m.columns; ++k) {
      const float* const x = host.data() + m.offset + k * m.rows;
      result.emplace_back(x, x + m.rows);
    }
    return result;
  }
  Vector<ColumnMatrix> matrices;
  Vector<float> data;
};

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

void expect_orthonormal(const Columns& q, double tolerance = 2e-7) {
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) EXPECT_NEAR(dot(q[i], q[j]), i == j ? 1 : 0, tolerance) << i << " " << j;
  }
}

/// Relative distance of a from the span of the orthonormal q.
double outside_span(std::vector<double> a, const Columns& q) {
  const double norm = std::sqrt(dot(a, a));
  for (const auto& column : q) {
    const double along = dot(a, column);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= along * column[i];
  }
  return std::sqrt(dot(a, a)) / norm;
}

TEST(Orthogonalise, GivesOrthonormalColumnsOfTheSameSpan) {
  const std::vector<std::pair<index_t, index_t>> shapes{{1, 1}, {5, 4}, {33, 1}, {100, 32}, {4608, 4}, {31, 7}};
  for (const float scale : {1.0f, 1e-20f, 1e15f}) {
    Batch batch(shapes);
    batch.fill(1, scale);
    std::vector<Columns> before;
    for (std::size_t m = 0; m < shapes.size(); ++m) before.push_back(batch.columns(m));
    orthogonalise(Exec(), batch.matrices, batch.data);
    for (std::size_t m = 0; m < shapes.size(); ++m) {
      expect_orthonormal(batch.columns(m));
      for (const auto& column : before[m]) EXPECT_LT(outside_span(column, batch.columns(m)), 1e-6);
    }
  }
}

TEST(Orthogonalise, SurvivesNearlyDependentColumns) {
  Batch batch({{200, 3}});
  batch.fill(2);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch.data);
  for (std::size_t i = 0; i < 200; ++i) {
    host(200 + i) = host(i) + 1e-4f * host(200 + i);
    host(400 + i) = host(i) + 1e-4f * host(400 + i);
  }
  Kokkos::deep_copy(batch.data, host);
  orthogonalise(Exec(), batch.matrices, batch.data);
  expect_orthonormal(batch.columns(0));
}

TEST(Orthogonalise, DeadZeroAndNonFiniteColumnsBecomeZero) {
  Batch batch({{70, 4}, {70, 2}});
  batch.fill(3);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch.data);
  for (std::size_t i = 0; i < 70; ++i) {
    host(70 + i) = 3 * host(i);  // dependent
    host(140 + i) = 0;
  }
  host(280 + 5) = NAN;
  Kokkos::deep_copy(batch.data, host);
  orthogonalise(Exec(), batch.matrices, batch.data);
  const Columns q = batch.columns(0);
  EXPECT_EQ(dot(q[1], q[1]), 0);
  EXPECT_EQ(dot(q[2], q[2]), 0);
  EXPECT_NEAR(dot(q[0], q[0]), 1, 1e-6);
  EXPECT_NEAR(dot(q[3], q[3]), 1, 1e-6);
  EXPECT_NEAR(dot(q[0], q[3]), 0, 1e-6);
  EXPECT_EQ(dot(batch.columns(1)[0], batch.columns(1)[0]), 0);
}

TEST(Householder, GivesTheColumnsOfGramSchmidtInDouble) {
  const std::vector<std::pair<index_t, index_t>> shapes{{1, 1}, {5, 4}, {33, 1}, {100, 32}, {4608, 4}, {31, 7}, {8, 8}};
  for (const float scale : {1.0f, 1e-20f, 1e15f}) {
    Batch batch(shapes);
    batch.fill(1, scale);
    std::vector<Columns> expected;
    for (std::size_t m = 0; m < shapes.size(); ++m) {
      Columns q = batch.columns(m);
      for (std::size_t k = 0; k < q.size(); ++k) {
        for (std::size_t other = 0; other < 2 * k; ++other) {
          const auto& y = q[other < k ? other : other - k];
          const double along = dot(q[k], y);
          for (std::size_t i = 0; i < y.size(); ++i) q[k][i] -= along * y[i];
        }
        const double norm = std::sqrt(dot(q[k], q[k]));
        for (double& v : q[k]) v /= norm;
      }
      expected.push_back(q);
    }
    orthogonalise_householder(Exec(), batch.matrices, batch.data);
    for (std::size_t m = 0; m < shapes.size(); ++m) {
      const Columns q = batch.columns(m);
      expect_orthonormal(q, 2e-6);
      for (std::size_t k = 0; k < q.size(); ++k) {
        // The last column of a square matrix is the remainder, whose rounding error grows with the condition number.
        for (std::size_t i = 0; i < q[k].size(); ++i) EXPECT_NEAR(q[k][i], expected[m][k][i], 2e-5) << m << " " << k;
      }
    }
  }
}

TEST(Householder, DependentAndZeroColumnsStillGiveOrthonormalOnes) {
  for (const float distance : {1e-3f, 1e-6f, 1e-9f, 0.0f}) {
    Batch batch({{200, 5}, {40, 3}});
    batch.fill(2);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch.data);
    for (std::size_t i = 0; i < 200; ++i) {
      host(200 + i) = host(i) + distance * host(200 + i);
      host(400 + i) = -3 * host(i) + distance * host(400 + i);
      host(600 + i) = 0;
    }
    for (std::size_t i = 1000; i < 1120; ++i) host(i) = 0;
    Kokkos::deep_copy(batch.data, host);
    const std::vector<double> first = batch.columns(0)[0], last = batch.columns(0)[4];
    orthogonalise_householder(Exec(), batch.matrices, batch.data);
    expect_orthonormal(batch.columns(0), 1e-6);
    expect_orthonormal(batch.columns(1), 1e-6);
    EXPECT_LT(outside_span(first, batch.columns(0)), 1e-6);
    EXPECT_LT(outside_span(last, batch.columns(0)), 1e-6);
    EXPECT_GT(dot(first, batch.columns(0)[0]), 0);  // the diagonal of R is positive
    EXPECT_GT(dot(last, batch.columns(0)[4]), 0);
  }
}

TEST(Householder, NonFiniteMatricesAndColumnsBeyondTheRowsBecomeZero) {
  Batch batch({{70, 4}, {70, 2}, {3, 5}, {0, 2}});
  batch.fill(3);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch.data);
  host(100) = NAN;
  Kokkos::deep_copy(batch.data, host);
  orthogonalise_householder(Exec(), batch.matrices, batch.data);
  for (const auto& x : batch.columns(0)) EXPECT_EQ(dot(x, x), 0);
  expect_orthonormal(batch.columns(1), 1e-6);
  Columns square = batch.columns(2);
  for (const std::size_t k : {3u, 4u}) EXPECT_EQ(dot(square[k], square[k]), 0);
  square.resize(3);
  expect_orthonormal(square, 1e-6);
}

TEST(Orthogonalise, NormaliseScalesColumnsToOne) {
  Batch batch({{50, 3}});
  batch.fill(4, 1e-25f);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch.data);
  for (std::size_t i = 0; i < 50; ++i) host(50 + i) = 1e-36f;
  Kokkos::deep_copy(batch.data, host);
  normalise_columns(Exec(), batch.matrices, batch.data, Mark(), batch.data);
  const Columns q = batch.columns(0);
  EXPECT_NEAR(dot(q[0], q[0]), 1, 1e-6);
  EXPECT_EQ(dot(q[1], q[1]), 0);
  EXPECT_NEAR(dot(q[2], q[2]), 1, 1e-6);
}

TEST(Orthogonalise, RefillsOnlyZeroColumnsWithNearlyNormalNumbers) {
  Batch batch({{20000, 2}, {20000, 1}});
  const Vector<index_t> ids("ids", 2);
  const auto host_ids = Kokkos::create_mirror_view(ids);
  host_ids(1) = 9;
  Kokkos::deep_copy(ids, host_ids);
  const auto host = Kokkos::create_mirror_view(batch.data);
  host(3) = 1;  // column 0 of matrix 0 lives
  Kokkos::deep_copy(batch.data, host);
  refill_columns(Exec(), batch.matrices, ids, 1, 2, batch.data);
  EXPECT_EQ(dot(batch.columns(0)[0], batch.columns(0)[0]), 1);
  for (const auto& x : {batch.columns(0)[1], batch.columns(1)[0]}) {
    double sum = 0, fourth = 0;
    for (const double v : x) {
      sum += v;
      fourth += v * v * v * v;
    }
    EXPECT_NEAR(sum / 20000, 0, 6 / std::sqrt(20000.0));
    EXPECT_NEAR(dot(x, x) / 20000, 1, 6 * std::sqrt(2 / 20000.0));
    EXPECT_NEAR(fourth / 20000, 3 - 1.2 / 8, 0.3);  // excess kurtosis of a sum of n uniforms: -1.2 / n
  }
  EXPECT_LT(std::abs(dot(batch.columns(0)[1], batch.columns(1)[0])), 6 * std::sqrt(20000.0));
}

}  // namespace orthogonalise_test
}  // namespace gradcomp::kernels
