#include "gradcomp/nn/gemm.hpp"

#include <cassert>

#include "gradcomp/nn/gemm_host.hpp"

namespace gradcomp::nn {
namespace {

/// Rows of c that one thread works on: each element of b that it reads serves them all.
constexpr int rows_per_thread = 8;

template <class T>
void portable_gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
                   const GemmStart<T>& start) {
  const index_t blocks = (c.rows + rows_per_thread - 1) / rows_per_thread, columns = c.columns, inner = a.columns;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, blocks * columns),
      KOKKOS_LAMBDA(const index_t index) {
        const index_t column = index % columns, first = index / columns * rows_per_thread;
        const int rows = static_cast<int>(c.rows - first < rows_per_thread ? c.rows - first : rows_per_thread);
        T sum[rows_per_thread];
        for (int r = 0; r < rows_per_thread; ++r) {
          const bool add = start.add && r < rows;
          sum[r] = add ? c(first + r, column) : !start.add && start.bias != nullptr ? start.bias[column] : T(0);
        }
        for (index_t k = 0; k < inner; ++k) {
          const T factor = b(k, column);
          for (int r = 0; r < rows_per_thread; ++r) sum[r] += a(first + (r < rows ? r : 0), k) * factor;
        }
        for (int r = 0; r < rows; ++r) c(first + r, column) = sum[r];
      });
}

}  // namespace

template <class T>
GemmWorkspace<T>::GemmWorkspace() {
  if constexpr (device_is_host) {
    packed = Vector<T>("gradcomp::nn::gemm", Exec().concurrency() * host::gemm_scratch<T>);
  }
}

template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmWorkspace<T>& workspace, Path path, const GemmStart<T>& start) {
  assert(a.rows == c.rows && b.columns == c.columns && a.columns == b.rows && c.column_step == 1);
  if constexpr (device_is_host) {
    if (path == Path::best) return host::gemm<T>(exec, a, b, c, start, workspace.packed.data());
  }
  portable_gemm<T>(exec, a, b, c, start);
}

#define GRADCOMP_INSTANTIATE(T)                                                                        \
  template struct GemmWorkspace<T>;                                                                    \
  template void gemm<T>(const Exec&, const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&, \
                        const GemmWorkspace<T>&, Path, const GemmStart<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
