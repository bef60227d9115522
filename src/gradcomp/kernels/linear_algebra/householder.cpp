#include "gradcomp/kernels/linear_algebra/householder.hpp"

#include "gradcomp/kernels/lanes/column_lanes.hpp"

namespace gradcomp::kernels {
namespace {

/// The columns of one matrix; column j starts at first + j rows. Reflection k is I - tau v v^T, where v is column k
/// from row k on.
struct Reflections {
  float* first;
  index_t rows;

  KOKKOS_FORCEINLINE_FUNCTION float* column(index_t j) const { return first + j * rows; }

  /// Element `row` of column j; all lanes get it. The lane that writes the element reads it.
  KOKKOS_FORCEINLINE_FUNCTION double element(const Warp& warp, index_t j, index_t row) const {
    const float* const x = column(j);
    Lanes<double> value;
    warp.each([&](int l) { value[l] = row % warp_lanes == l ? static_cast<double>(x[row]) : 0.0; });
    return warp.sum(value);
  }

  /// The sum of column i times column j over the rows from k on.
  KOKKOS_FORCEINLINE_FUNCTION double dot_below(const Warp& warp, index_t k, index_t i, index_t j) const {
    const float *const x = column(i), *const y = column(j);
    Lanes<double> sum;
    warp.each([&](int l) { sum[l] = 0; });
    each_element(warp, rows, [&](int l, index_t e) {
      sum[l] += e >= k ? static_cast<double>(x[e]) * static_cast<double>(y[e]) : 0.0;
    });
    return warp.sum(sum);
  }

  /// Column j = (I - tau v v^T) column j.
  KOKKOS_FORCEINLINE_FUNCTION void reflect(const Warp& warp, index_t k, double tau, index_t j) const {
    const float* const v = column(k);
    float* const x = column(j);
    const double along = tau * dot_below(warp, k, k, j);
    each_element(warp, rows, [&](int, index_t e) {
      if (e >= k) x[e] = static_cast<float>(static_cast<double>(x[e]) - along * static_cast<double>(v[e]));
    });
  }

  /// Turns column k into v. Sets tau, and says whether the diagonal element of R is negative.
  KOKKOS_FORCEINLINE_FUNCTION void prepare(const Warp& warp, index_t k, double& tau, bool& negative) const {
    float* const x = column(k);
    const double norm = Kokkos::sqrt(dot_below(warp, k, k, k)), head = element(warp, k, k);
    negative = head > 0;  // head and the norm then have the same sign, so nothing cancels
    const auto v = static_cast<float>(negative ? head + norm : head - norm);
    each_element(warp, rows, [&](int, index_t e) {
      if (e == k) x[e] = v;
    });
    const double square = dot_below(warp, k, k, k);  // of v as stored, so that the reflection is orthogonal
    tau = square > 0 ? 2 / square : 0.0;
  }

  /// Column k = sign (I - tau v v^T) e_k, which replaces v.
  KOKKOS_FORCEINLINE_FUNCTION void start(const Warp& warp, index_t k, double tau, double sign) const {
    float* const x = column(k);
    const double along = tau * element(warp, k, k);
    each_element(warp, rows, [&](int, index_t e) {
      const double value = (e == k ? 1.0 : 0.0) - along * static_cast<double>(x[e]);
      x[e] = e < k ? 0.0f : static_cast<float>(sign * value);
    });
  }
};

}  // namespace

void orthogonalise_householder(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data) {
  for_warps(
      "gradcomp::kernels::orthogonalise_householder", exec, static_cast<index_t>(matrices.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t m) {
        const ColumnMatrix matrix = matrices(m);
        const Reflections a{data.data() + matrix.offset, matrix.rows};
        bool finite = true;
        for (index_t k = 0; k < matrix.columns; ++k) {
          const double square = dot(warp, a.column(k), a.column(k), a.rows);
          finite = finite && square < 1e300;
          scale(warp, square > 0 && square < 1e300 ? 1 / Kokkos::sqrt(square) : 0.0, a.column(k), a.column(k), a.rows);
        }
        const index_t count = !finite ? 0 : matrix.columns < a.rows ? matrix.columns : a.rows;
        double tau[max_householder_columns];
        bool negative[max_householder_columns];
        for (index_t k = 0; k < count; ++k) {
          a.prepare(warp, k, tau[k], negative[k]);
          for (index_t j = k + 1; j < count; ++j) a.reflect(warp, k, tau[k], j);
        }
        for (index_t k = count; k-- > 0;) {
          for (index_t j = k + 1; j < count; ++j) a.reflect(warp, k, tau[k], j);
          a.start(warp, k, tau[k], negative[k] ? -1.0 : 1.0);
        }
        for (index_t k = count; k < matrix.columns; ++k) scale(warp, 0.0, a.column(k), a.column(k), a.rows);
      });
}

}  // namespace gradcomp::kernels
