#pragma once
// The matrix product of hosts. It keeps a tile of tile_rows x 2 vectors of c in registers while it walks over the inner
// index (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 2008). The second factor
// is packed in panels of two vectors. The first factor is packed too, unless its rows are contiguous.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {

/// Rows of a tile. Its accumulators leave enough registers for the two vectors of the panel and a broadcast element.
inline constexpr int tile_rows = vector_registers == 32 ? 8 : 6;

/// Columns of a panel: two vectors, so that two products share each broadcast.
template <class T>
inline constexpr int panel_columns = 2 * Simd<T>::width;

/// Maximum inner length of one pass, whose panel stays in an L1 cache of 32 KiB. The order of sums depends on this
/// number, so it is the same on all machines with the same vector width.
template <class T>
inline constexpr index_t inner_limit = 28 * 1024 / (panel_columns<T> * index_t(sizeof(T)));

inline constexpr index_t block_rows = 96, block_columns = 256;  ///< both blocks fit into a core's second-level cache

/// Elements of scratch per thread.
template <class T>
inline constexpr index_t gemm_scratch = (block_rows + block_columns) * inner_limit<T>;

/// Copies b into panels, to[panel][inner index][panel_columns]. Zeros fill the last panel.
template <class T>
void pack_panels(const Matrix<const T>& b, T* to);

/// Elements that pack_panels writes.
template <class T>
constexpr index_t packed_size(index_t rows, index_t columns) {
  return (columns + panel_columns<T> - 1) / panel_columns<T> * panel_columns<T> * rows;
}

/// Does the same on all threads.
template <class T>
void pack_panels(const Exec& exec, const Matrix<const T>& b, T* to);

/// Does what nn::gemm() does. scratch: gemm_scratch elements for each thread.
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start, T* scratch);

/// Does what nn::gemm_grid() does. One thread does each product.
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, T* scratch);

}  // namespace gradcomp::nn::host
