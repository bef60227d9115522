#pragma once
// The micro-kernel of the matrix products. It multiplies up to tile_rows rows by one packed panel.
#include <algorithm>

#include "gradcomp/nn/gemm/gemm_host.hpp"

namespace gradcomp::nn::host {

/// Rows of the first factor: element (i, k) lies at data[i row_step + k inner_step].
template <class T>
struct Rows {
  const T* data;
  index_t row_step, inner_step;
};

/// Where a tile is stored, and what its sums start with.
template <class T>
struct Tile {
  T* data;
  index_t row_step;
  int columns;    ///< at most panel_columns
  bool add;       ///< true: the elements at `data`
  const T* bias;  ///< if not `add`: these `columns` elements; null: zeros
};

/// Sets Count rows of `to` to a panel + start, over `inner` rows of the panel.
template <class T, int Count>
[[gnu::always_inline]] inline void multiply_tile(const Rows<T>& a, const T* panel, index_t inner, const Tile<T>& to) {
  constexpr int width = Simd<T>::width;
  const bool whole = to.columns == panel_columns<T>;
  T edge[panel_columns<T>] = {};
  Pack<T> sum[Count][2] = {};
  for (int r = 0; r < Count && (to.add || to.bias != nullptr); ++r) {
    const T* from = to.add ? to.data + r * to.row_step : to.bias;
    if (!whole) {
      std::copy_n(from, to.columns, edge);
      from = edge;
    }
    sum[r][0] = load(from);
    sum[r][1] = load(from + width);
  }
#pragma GCC unroll 2
  for (index_t k = 0; k < inner; ++k, panel += 2 * width) {
    const Pack<T> left = load(panel), right = load(panel + width);
#pragma GCC unroll 8
    for (int r = 0; r < Count; ++r) {
      const T factor = a.data[r * a.row_step + k * a.inner_step];
      sum[r][0] += factor * left;
      sum[r][1] += factor * right;
    }
  }
  for (int r = 0; r < Count; ++r) {
    T* row = whole ? to.data + r * to.row_step : edge;
    store(row, sum[r][0]);
    store(row + width, sum[r][1]);
    if (!whole) std::copy_n(edge, to.columns, to.data + r * to.row_step);
  }
}

/// Calls multiply_tile() for `rows` rows, at most tile_rows.
template <class T>
inline void multiply_rows(int rows, const Rows<T>& a, const T* panel, index_t inner, const Tile<T>& to) {
  switch (rows) {
    case 1:
      return multiply_tile<T, 1>(a, panel, inner, to);
    case 2:
      return multiply_tile<T, 2>(a, panel, inner, to);
    case 3:
      return multiply_tile<T, 3>(a, panel, inner, to);
    case 4:
      return multiply_tile<T, 4>(a, panel, inner, to);
    case 5:
      return multiply_tile<T, 5>(a, panel, inner, to);
    case 6:
      return multiply_tile<T, 6>(a, panel, inner, to);
    case 7:
      return multiply_tile<T, 7>(a, panel, inner, to);
    default:
      return multiply_tile<T, 8>(a, panel, inner, to);
  }
}

}  // namespace gradcomp::nn::host
