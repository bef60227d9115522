#include "gradcomp/nn/gemm/gemm.hpp"

#include <cassert>

#include "gradcomp/nn/gemm/gemm_device.hpp"
#include "gradcomp/nn/gemm/gemm_host.hpp"

namespace gradcomp::nn {
namespace {

/// Rows of c that one thread works on. It uses each element of b that it reads for all of them.
constexpr int rows_per_thread = 8;

/// Computes the rows of block `block` in column `column` of c.
template <class T>
KOKKOS_INLINE_FUNCTION void multiply_column(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
                                            const GemmStart<T>& start, index_t block, index_t column) {
  const index_t first = block * rows_per_thread;
  const int rows = static_cast<int>(c.rows - first < rows_per_thread ? c.rows - first : rows_per_thread);
  T sum[rows_per_thread];
  for (int r = 0; r < rows_per_thread; ++r) {
    const bool add = start.add && r < rows;
    sum[r] = add ? c(first + r, column) : !start.add && start.bias != nullptr ? start.bias[column] : T(0);
  }
  for (index_t k = 0; k < a.columns; ++k) {
    const T factor = b(k, column);
    for (int r = 0; r < rows_per_thread; ++r) sum[r] += a(first + (r < rows ? r : 0), k) * factor;
  }
  for (int r = 0; r < rows; ++r) c(first + r, column) = sum[r];
}

constexpr index_t blocks_of(index_t rows) { return (rows + rows_per_thread - 1) / rows_per_thread; }

template <class T>
void portable_gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
                   const GemmStart<T>& start) {
  Kokkos::parallel_for(
      "gradcomp::nn::gemm", IndexRange(exec, 0, blocks_of(c.rows) * c.columns),
      KOKKOS_LAMBDA(const index_t i) { multiply_column<T>(a, b, c, start, i / c.columns, i % c.columns); });
}

template <class T>
void portable_gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
                        const MatrixGrid<const T>& b, const MatrixGrid<T>& c) {
  const index_t columns = c.first.columns, each = blocks_of(c.first.rows) * columns;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm_grid", IndexRange(exec, 0, outer * inner * each), KOKKOS_LAMBDA(const index_t i) {
        const index_t x = i / each / inner, y = i / each % inner, place = i % each;
        multiply_column<T>(a.at(x, y), b.at(x, y), c.at(x, y), {}, place / columns, place % columns);
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
  if (taken(path) == Path::device) return device::gemm<T>(exec, a, b, c, start);
  portable_gemm<T>(exec, a, b, c, start);
}

template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmWorkspace<T>& workspace, Path path) {
  assert(a.first.rows == c.first.rows && b.first.columns == c.first.columns && a.first.columns == b.first.rows);
  if constexpr (device_is_host) {
    if (path == Path::best) return host::gemm_grid<T>(exec, outer, inner, a, b, c, workspace.packed.data());
  }
  if (taken(path) == Path::device) return device::gemm_grid<T>(exec, outer, inner, a, b, c);
  portable_gemm_grid<T>(exec, outer, inner, a, b, c);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                     \
  template struct GemmWorkspace<T>;                                                                                 \
  template void gemm<T>(const Exec&, const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&,              \
                        const GemmWorkspace<T>&, Path, const GemmStart<T>&);                                        \
  template void gemm_grid<T>(const Exec&, index_t, index_t, const MatrixGrid<const T>&, const MatrixGrid<const T>&, \
                             const MatrixGrid<T>&, const GemmWorkspace<T>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
