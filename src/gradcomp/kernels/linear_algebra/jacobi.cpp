#include "gradcomp/kernels/linear_algebra/jacobi.hpp"

#include "gradcomp/kernels/lanes/column_lanes.hpp"

namespace gradcomp::kernels {
namespace {

/// One matrix on one warp.
struct Jacobi {
  double *a, *vectors;
  index_t n;

  /// Elements (p, p), (q, q) and (p, q); all lanes get them, and have read them when this returns.
  KOKKOS_FORCEINLINE_FUNCTION void read(const Warp& warp, index_t p, index_t q, double (&x)[3]) const {
    Lanes<double> value;
    warp.each([&](int l) { value[l] = l == 0 ? a[p * n + p] : l == 1 ? a[q * n + q] : l == 2 ? a[p * n + q] : 0.0; });
    for (int i = 0; i < 3; ++i) x[i] = warp.broadcast(value, i);
  }

  /// Rows p and q of a matrix become c p - s q and s p + c q.
  KOKKOS_FORCEINLINE_FUNCTION void turn_rows(const Warp& warp, double* matrix, index_t p, index_t q, double c,
                                             double s) const {
    double *const x = matrix + p * n, *const y = matrix + q * n;
    each_element(warp, n, [&](int, index_t k) {
      const double before = x[k];
      x[k] = c * before - s * y[k];
      y[k] = s * before + c * y[k];
    });
  }

  /// If the magnitude of element (p, q) is above `least`, makes the element zero and returns true.
  KOKKOS_FORCEINLINE_FUNCTION bool rotate(const Warp& warp, index_t p, index_t q, double least) const {
    double x[3];
    warp.sync();  // what the last rotation wrote
    read(warp, p, q, x);
    if (!(Kokkos::abs(x[2]) > least)) return false;
    const double tau = (x[1] - x[0]) / (2 * x[2]);
    const double t = (tau < 0 ? -1.0 : 1.0) / (Kokkos::abs(tau) + Kokkos::sqrt(1 + tau * tau));
    const double c = 1 / Kokkos::sqrt(1 + t * t), s = t * c;
    turn_rows(warp, a, p, q, c, s);
    each_element(warp, n, [&](int, index_t k) {  // the matrix is symmetric, so columns equal rows
      if (k == p || k == q) return;
      a[k * n + p] = a[p * n + k];
      a[k * n + q] = a[q * n + k];
    });
    warp.sync();
    warp.each([&](int l) {
      if (l == 0) a[p * n + p] = x[0] - t * x[2];
      if (l == 1) a[q * n + q] = x[1] + t * x[2];
      if (l == 2) a[p * n + q] = 0;
      if (l == 3) a[q * n + p] = 0;
    });
    turn_rows(warp, vectors, p, q, c, s);
    return true;
  }
};

}  // namespace

void jacobi_eigenvectors(const Exec& exec, const Vector<SymmetricMatrix>& matrices, const Span<double>& a,
                         const Span<double>& vectors, const Span<double>& values) {
  for_warps(
      "gradcomp::kernels::jacobi_eigenvectors", exec, static_cast<index_t>(matrices.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t m) {
        const SymmetricMatrix matrix = matrices(m);
        const index_t n = matrix.size;
        const Jacobi jacobi{a.data() + matrix.offset, vectors.data() + matrix.offset, n};
        double* const diagonal = values.data() + matrix.values;
        each_element(warp, n * n, [&](int, index_t i) { jacobi.vectors[i] = i / n == i % n ? 1.0 : 0.0; });
        Lanes<double> size;
        warp.each([&](int l) { size[l] = 0; });
        each_element(warp, n, [&](int l, index_t i) { size[l] += Kokkos::abs(jacobi.a[i * n + i]); });
        const double least = 0x1p-53 * warp.sum(size);
        bool turned = true;
        for (int sweep = 0; turned && sweep < max_jacobi_sweeps; ++sweep) {
          turned = false;
          for (index_t p = 0; p < n; ++p) {
            for (index_t q = p + 1; q < n; ++q) turned = jacobi.rotate(warp, p, q, least) || turned;
          }
        }
        warp.sync();
        each_element(warp, n, [&](int, index_t i) { diagonal[i] = jacobi.a[i * n + i]; });
      });
}

}  // namespace gradcomp::kernels
