// The checks of gradcomp-bench-kokkos-kernels: right answers pass, and one wrong element does not.
#include "kokkos_kernels/bucket.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace bucket_test {

Bucket bucket() { return Bucket(Exec(), "resnet8", 3); }

/// Calls `check` with an answer that plain loops make, then with one whose element `at` is a little off.
template <class Check>
void expect_noticed(std::vector<float> answer, std::size_t at, const Check& check) {
  const Exec exec;
  EXPECT_NO_THROW(check(upload("right", answer)));
  answer.at(at) += 0.01f * std::abs(answer.at(at)) + 1e-3f;
  EXPECT_THROW(check(upload("wrong", answer)), Error);
}

TEST(KokkosKernelsBucket, NoticesAWrongProduct) {
  const Bucket b = bucket();
  const auto a = to_host(b.exec, b.gradient), p = to_host(b.exec, b.p), q = to_host(b.exec, b.q);
  std::vector<float> forth(p.size()), back(q.size());
  for (const BucketMatrix& m : b.matrices) {
    for (index_t k = 0; k < m.rank; ++k) {
      for (index_t i = 0; i < m.rows; ++i) {
        for (index_t j = 0; j < m.columns; ++j) {
          const float x = a[m.first + i * m.columns + j];
          forth[m.p + k * m.rows + i] += x * q[m.q + k * m.columns + j];
          back[m.q + k * m.columns + j] += x * p[m.p + k * m.rows + i];
        }
      }
    }
  }
  expect_noticed(forth, forth.size() - 1, [&](const auto& answer) { b.check_project(answer, 1); });
  expect_noticed(back, 7, [&](const auto& answer) { b.check_project_back(answer); });
}

TEST(KokkosKernelsBucket, NoticesAWrongBasis) {
  const Bucket b = bucket();
  auto basis = to_host(b.exec, b.p);
  for (const BucketMatrix& m : b.matrices) {
    for (index_t k = 0; k < m.rank; ++k) {
      float* const x = &basis[m.p + k * m.rows];
      for (index_t other = 0; other <= k; ++other) {  // Gram and Schmidt; the last one divides by the norm
        const float* const y = &basis[m.p + other * m.rows];
        double along = 0;
        for (index_t i = 0; i < m.rows; ++i) along += static_cast<double>(x[i]) * static_cast<double>(y[i]);
        for (index_t i = 0; i < m.rows; ++i)
          x[i] = static_cast<float>(other == k ? x[i] / std::sqrt(along) : x[i] - along * static_cast<double>(y[i]));
      }
    }
  }
  expect_noticed(basis, 5, [&](const auto& answer) { b.check_orthonormal(answer); });
  EXPECT_THROW(b.check_orthonormal(b.p), Error);
}

TEST(KokkosKernelsBucket, NoticesAWrongNorm) {
  const Bucket b = bucket();
  double squares = 0;
  for (const float x : to_host(b.exec, b.gradient)) squares += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NO_THROW(b.check_norm(std::sqrt(squares)));
  EXPECT_THROW(b.check_norm(1.01 * std::sqrt(squares)), Error);
  EXPECT_THROW(b.check_norm(NAN), Error);
}

TEST(KokkosKernelsBucket, RefusesUnknownModels) { EXPECT_THROW(Bucket(Exec(), "none", 1), Error); }

}  // namespace bucket_test
}  // namespace gradcomp::bench
