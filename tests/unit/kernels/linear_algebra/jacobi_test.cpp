// Batched Jacobi: known spectra, repeated and zero eigenvalues, extreme scales, orthonormal eigenvectors.
#include "gradcomp/kernels/linear_algebra/jacobi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {
namespace jacobi_test {

using Numbers = std::vector<double>;

struct Spectrum {
  Numbers values, vectors;  ///< [n], [n][n] row by row
};

/// Computes the eigenvalues and eigenvectors of all matrices in one launch.
std::vector<Spectrum> eigenvectors_of(const std::vector<Numbers>& matrices) {
  std::vector<SymmetricMatrix> places;
  Numbers all;
  index_t values = 0;
  for (const Numbers& m : matrices) {
    const auto n = static_cast<std::int32_t>(std::lround(std::sqrt(static_cast<double>(m.size()))));
    places.push_back({static_cast<index_t>(all.size()), values, n});
    all.insert(all.end(), m.begin(), m.end());
    values += n;
  }
  const auto a = upload("a", all);
  const Vector<double> vectors("vectors", all.size()), found("values", static_cast<std::size_t>(values));
  jacobi_eigenvectors(Exec(), upload("places", places), a, vectors, found);
  const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vectors);
  const auto l = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  std::vector<Spectrum> result;
  for (const auto& place : places) {
    Spectrum s;
    for (index_t i = 0; i < place.size; ++i) s.values.push_back(l(static_cast<std::size_t>(place.values + i)));
    for (index_t i = 0; i < index_t{place.size} * place.size; ++i)
      s.vectors.push_back(v(static_cast<std::size_t>(place.offset + i)));
    result.push_back(s);
  }
  return result;
}

/// Q diag Q^T with a random orthogonal Q, made of reflections.
Numbers with_eigenvalues(const Numbers& values, unsigned seed) {
  const std::size_t n = values.size();
  Numbers a(n * n, 0), v(n);
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] = values[i];
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 3; ++round) {
    double square = 0;
    for (double& x : v) {
      x = normal(engine);
      square += x * x;
    }
    for (int side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < n; ++i) {
        double along = 0;
        const auto at = [&](std::size_t j) -> double& { return side == 0 ? a[j * n + i] : a[i * n + j]; };
        for (std::size_t j = 0; j < n; ++j) along += 2 / square * v[j] * at(j);
        for (std::size_t j = 0; j < n; ++j) at(j) -= along * v[j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) a[i * n + j] = a[j * n + i];
  return a;
}

void check(const Numbers& a, const Spectrum& found, Numbers expected) {
  const std::size_t n = expected.size();
  double size = 0;
  for (const double l : expected) size += std::fabs(l);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double along = 0;
      for (std::size_t k = 0; k < n; ++k) along += found.vectors[i * n + k] * found.vectors[j * n + k];
      ASSERT_NEAR(along, i == j ? 1 : 0, 1e-13 * static_cast<double>(n)) << i << " " << j;
    }
    for (std::size_t k = 0; k < n; ++k) {
      double image = 0;
      for (std::size_t j = 0; j < n; ++j) image += a[k * n + j] * found.vectors[i * n + j];
      ASSERT_LE(std::fabs(image - found.values[i] * found.vectors[i * n + k]), 1e-14 * static_cast<double>(n) * size);
    }
  }
  Numbers sorted = found.values;
  std::sort(sorted.begin(), sorted.end());
  std::sort(expected.begin(), expected.end());
  for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::fabs(sorted[i] - expected[i]), 1e-14 * size) << i;
}

TEST(Jacobi, FindsKnownSpectra) {
  std::vector<Numbers> spectra = {{}, {3}, {0}, {1, 1}, {5, -2}, {1, 2, 2, 2, 0, 0, 1e-9}, Numbers(40, 0)};
  Numbers decaying;
  for (int i = 0; i < 100; ++i) decaying.push_back(std::pow(0.8, i));
  spectra.push_back(decaying);
  for (const double scale : {1.0, 1e-90, 1e80}) {
    std::vector<Numbers> expected = spectra, matrices;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      for (double& value : expected[i]) value *= scale;
      matrices.push_back(with_eigenvalues(expected[i], static_cast<unsigned>(i)));
    }
    const auto found = eigenvectors_of(matrices);
    for (std::size_t i = 0; i < found.size(); ++i) check(matrices[i], found[i], expected[i]);
  }
}

TEST(Jacobi, LeavesDiagonalMatricesAlone) {
  const auto found = eigenvectors_of({{4, 0, 0, 0, 1, 0, 0, 0, 9}});
  EXPECT_EQ(found[0].values, (Numbers{4, 1, 9}));
  EXPECT_EQ(found[0].vectors, (Numbers{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

}  // namespace jacobi_test
}  // namespace gradcomp::kernels
