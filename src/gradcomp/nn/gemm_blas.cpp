#include "gradcomp/nn/gemm_blas.hpp"

#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas3_gemm.hpp>
#endif

namespace gradcomp::nn::blas {
namespace {

#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
template <class T>
using RowMajor = Kokkos::View<T**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// `rows` contiguous rows of `columns` elements, `step` apart.
template <class T>
RowMajor<T> view(T* data, index_t rows, index_t columns, index_t step) {
  return Kokkos::subview(RowMajor<T>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(step)), Kokkos::ALL,
                         Kokkos::make_pair(index_t{0}, columns));
}

template <class T>
RowMajor<T> stored(const Matrix<T>& m, bool transposed) {
  return transposed ? view(m.data, m.columns, m.rows, m.column_step) : view(m.data, m.rows, m.columns, m.row_step);
}

template <class T>
bool by_rows(const Matrix<T>& m) {
  return m.column_step == 1 && m.row_step >= m.columns;
}

/// c = the row vector in every row, or zeros.
template <class T>
void fill(const Exec& exec, const Matrix<T>& c, const T* bias) {
  const Matrix<T> out = c;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm_start", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, c.rows * c.columns),
      KOKKOS_LAMBDA(const index_t i) {
        const index_t column = i % out.columns;
        out(i / out.columns, column) = bias == nullptr ? T(0) : bias[column];
      });
}
#endif

}  // namespace

template <class T>
bool gemm([[maybe_unused]] const Exec& exec, [[maybe_unused]] const Matrix<const T>& a,
          [[maybe_unused]] const Matrix<const T>& b, [[maybe_unused]] const Matrix<T>& c,
          [[maybe_unused]] const GemmStart<T>& start) {
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
  const bool a_rows = by_rows(a), b_rows = by_rows(b);
  if (!(a_rows || by_rows(a.transposed())) || !(b_rows || by_rows(b.transposed())) || !by_rows(c)) return false;
  // filled rather than beta = 0: a NaN in what c held must not survive, whatever the library does with 0 x NaN
  if (!start.add) fill(exec, c, start.bias);
  if (a.columns == 0) return true;
  KokkosBlas::gemm(exec, a_rows ? "N" : "T", b_rows ? "N" : "T", T(1), stored(a, !a_rows), stored(b, !b_rows), T(1),
                   stored(c, false));
  return true;
#else
  return false;
#endif
}

template bool gemm<float>(const Exec&, const Matrix<const float>&, const Matrix<const float>&, const Matrix<float>&,
                          const GemmStart<float>&);
template bool gemm<double>(const Exec&, const Matrix<const double>&, const Matrix<const double>&, const Matrix<double>&,
                           const GemmStart<double>&);

}  // namespace gradcomp::nn::blas
