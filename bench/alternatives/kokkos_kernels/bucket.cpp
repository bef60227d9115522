#include "bucket.hpp"

#include <cmath>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "gradient.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr std::uint64_t seed = 1;

/// Sum of x[i x_step] y[i y_step], and sum of the magnitudes of these products.
struct Dot {
  double value = 0, size = 0;
  Dot(const float* x, index_t x_step, const float* y, index_t y_step, index_t count) {
    for (index_t i = 0; i < count; ++i) {
      const double term = static_cast<double>(x[i * x_step]) * static_cast<double>(y[i * y_step]);
      value += term;
      size += std::abs(term);
    }
  }
};

std::vector<BucketMatrix> matrices_of(const Layout& layout, int rank) {
  std::vector<BucketMatrix> matrices;
  index_t p = 0, q = 0;
  for (const auto& segment : layout.segments) {
    if (!kernels::is_factored(segment, rank)) continue;
    const index_t own = kernels::factor_rank(segment, rank);
    matrices.push_back({segment.offset, static_cast<int>(segment.rows()), static_cast<int>(segment.columns()),
                        static_cast<int>(own), p, q});
    p += own * segment.rows();
    q += own * segment.columns();
  }
  return matrices;
}

}  // namespace

Bucket::Bucket(const Exec& space, const std::string& model, int rank)
    : exec(space),
      layout(nn::model_shapes(model)),
      plan(layout, rank),
      gradient(laplace_gradient(space, layout.count(), seed)),
      p(laplace_gradient(space, plan.p_count(), seed + 1)),
      q(laplace_gradient(space, plan.q_count(), seed + 2)),
      matrices(matrices_of(layout, rank)),
      matrices_on_device(upload("gradcomp::bench::matrices", matrices)) {}

Vector<float> Bucket::room_for_p() const { return kernels::zeroed<float>("gradcomp::bench::p", plan.p_count()); }
Vector<float> Bucket::room_for_q() const { return kernels::zeroed<float>("gradcomp::bench::q", plan.q_count()); }

void Bucket::check_project(const Vector<float>& got, double factor) const {
  const auto a = to_host(exec, gradient), x = to_host(exec, q), y = to_host(exec, got);
  for (const auto& m : matrices) {
    for (index_t k = 0; k < m.rank; ++k) {
      for (index_t i = 0; i < m.rows; ++i) {
        const Dot dot(&a[m.first + i * m.columns], 1, &x[m.q + k * m.columns], 1, m.columns);
        const index_t at = m.p + k * m.rows + i;
        require_close("element of P", at, y[at], factor * dot.value, 1e-5 * dot.size);
      }
    }
  }
}

void Bucket::check_project_back(const Vector<float>& got) const {
  const auto a = to_host(exec, gradient), x = to_host(exec, p), y = to_host(exec, got);
  for (const auto& m : matrices) {
    for (index_t k = 0; k < m.rank; ++k) {
      for (index_t j = 0; j < m.columns; ++j) {
        const Dot dot(&a[m.first + j], m.columns, &x[m.p + k * m.rows], 1, m.rows);
        const index_t at = m.q + k * m.columns + j;
        require_close("element of Q", at, y[at], dot.value, 1e-5 * dot.size);
      }
    }
  }
}

void Bucket::check_orthonormal(const Vector<float>& got) const {
  const auto given = to_host(exec, p), basis = to_host(exec, got);
  for (const auto& m : matrices) {
    const auto column = [&m](const std::vector<float>& of, index_t k) { return &of[m.p + k * m.rows]; };
    for (index_t k = 0; k < m.rank; ++k) {
      std::vector<double> rest(column(given, k), column(given, k) + m.rows);
      for (index_t j = 0; j < m.rank; ++j) {
        const double unit = Dot(column(basis, k), 1, column(basis, j), 1, m.rows).value;
        require_close("product of columns", m.p + k * m.rank + j, unit, j == k ? 1 : 0, 1e-5);
        const double along = Dot(column(given, k), 1, column(basis, j), 1, m.rows).value;
        for (index_t i = 0; i < m.rows; ++i) rest[i] -= along * column(basis, j)[i];
      }
      double left = 0;
      for (const double x : rest) left += x * x;
      const double size = Dot(column(given, k), 1, column(given, k), 1, m.rows).value;
      require_close("what is outside the span of column", k, std::sqrt(left), 0, 1e-5 * std::sqrt(size));
    }
  }
}

void Bucket::check_norm(double got) const {
  const auto a = to_host(exec, gradient);
  const double expected = std::sqrt(Dot(a.data(), 1, a.data(), 1, static_cast<index_t>(a.size())).value);
  require_close("norm", 0, got, expected, 1e-3 * expected);  // libraries sum in float: 3e-5 off for 11 million elements
}

}  // namespace gradcomp::bench
