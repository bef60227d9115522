#include "gradcomp/nn/gemm/gemm_blas.hpp"

#include "gradcomp/kernels/linear_algebra/blas.hpp"

namespace gradcomp::nn::blas {
namespace {

using kernels::Transpose;

template <class T>
bool by_rows(const Matrix<T>& m) {
  return m.column_step == 1 && m.row_step >= m.columns;
}

template <class T>
kernels::Stored<T> stored(const Matrix<T>& m) {
  return {m.data, by_rows(m) ? m.row_step : m.column_step};
}

template <class T>
Transpose flag(const Matrix<T>& m) {
  return by_rows(m) ? Transpose::no : Transpose::yes;
}

/// Sets every row of c to `bias`; null: zeros.
template <class T>
void fill(const Exec& exec, const Matrix<T>& c, const T* bias) {
  const Matrix<T> out = c;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm_start", IndexRange(exec, 0, c.rows * c.columns), KOKKOS_LAMBDA(const index_t i) {
        const index_t column = i % out.columns;
        out(i / out.columns, column) = bias == nullptr ? T(0) : bias[column];
      });
}

}  // namespace

template <class T>
bool gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start) {
  const auto taken = [](const auto& m) { return by_rows(m) || by_rows(m.transposed()); };
  if (!kernels::has_gemm || !taken(a) || !taken(b) || !by_rows(c)) return false;
  if (!start.add && (start.bias != nullptr || a.columns == 0)) fill(exec, c, start.bias);
  if (a.columns == 0) return true;
  const T beta = start.add || start.bias != nullptr ? T(1) : T(0);
  kernels::gemm<T>(exec, flag(a), flag(b), {c.rows, c.columns, a.columns}, T(1), stored(a), stored(b), beta, stored(c));
  return true;
}

template bool gemm<float>(const Exec&, const Matrix<const float>&, const Matrix<const float>&, const Matrix<float>&,
                          const GemmStart<float>&);
template bool gemm<double>(const Exec&, const Matrix<const double>&, const Matrix<const double>&, const Matrix<double>&,
                           const GemmStart<double>&);

}  // namespace gradcomp::nn::blas
