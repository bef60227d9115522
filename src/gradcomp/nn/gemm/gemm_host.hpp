#pragma once
// The host's matrix product: a tile of rows x 2 vectors of c stays in registers while the inner index passes by (Goto
// and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 2008). The second factor comes packed
// in panels of two vectors; the first is read where it lies when its rows are contiguous, else packed as well.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {

/// As many accumulators as leave registers for the panel's two vectors and a broadcast element.
inline constexpr int tile_rows = vector_registers == 32 ? 8 : 6;

/// Two vectors, so that each broadcast feeds two products.
template <class T>
inline constexpr int panel_columns = 2 * Simd<T>::width;

/// Inner length of one pass: its panel stays in a 32 KiB L1. Fixed, as every number on which the order of sums depends.
template <class T>
inline constexpr index_t inner_limit = 28 * 1024 / (panel_columns<T> * index_t(sizeof(T)));

inline constexpr index_t block_rows = 96, block_columns = 256;  ///< packed together in a core's second-level cache

/// Elements of scratch of each thread.
template <class T>
inline constexpr index_t gemm_scratch = (block_rows + block_columns) * inner_limit<T>;

/// Copies b into panels, to[panel][inner index][panel_columns], the last one filled up with zeros.
template <class T>
void pack_panels(const Matrix<const T>& b, T* to);

/// Elements that pack_panels writes.
template <class T>
constexpr index_t packed_size(index_t rows, index_t columns) {
  return (columns + panel_columns<T> - 1) / panel_columns<T> * panel_columns<T> * rows;
}

/// pack_panels on all threads.
template <class T>
void pack_panels(const Exec& exec, const Matrix<const T>& b, T* to);

template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start, T* scratch);

/// Each product on one thread.
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, T* scratch);

}  // namespace gradcomp::nn::host
