#include "gradcomp/nn/gemm/gemm_host.hpp"

#include "gradcomp/nn/gemm/gemm_tile_host.hpp"

namespace gradcomp::nn::host {
namespace {

/// One index per thread, which is also the number of its part of the scratch.
using PerThread = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>;

constexpr index_t parts(index_t count, index_t limit) { return std::max<index_t>(1, (count + limit - 1) / limit); }

/// Copies the rows of a in groups of tile_rows, to[group][inner index][tile_rows].
template <class T>
void pack_rows(const Matrix<const T>& a, T* to) {
  for (index_t first = 0; first < a.rows; first += tile_rows, to += tile_rows * a.columns) {
    const index_t rows = std::min<index_t>(tile_rows, a.rows - first);
    for (index_t k = 0; k < a.columns; ++k) {
      for (index_t r = 0; r < rows; ++r) to[k * tile_rows + r] = a(first + r, k);
    }
  }
}

template <class T>
Matrix<T> block(const Matrix<T>& of, index_t row, index_t rows, index_t column, index_t columns) {
  return {of.data + row * of.row_step + column * of.column_step, rows, columns, of.row_step, of.column_step};
}

/// c = a b + start for packed panels of b.
template <class T>
void multiply_panels(const Rows<T>& a, const T* panels, index_t inner, const Matrix<T>& c, const GemmStart<T>& start,
                     bool a_is_packed) {
  constexpr int width = panel_columns<T>;
  for (index_t column = 0; column < c.columns; column += width, panels += inner * width) {
    const int columns = static_cast<int>(std::min<index_t>(width, c.columns - column));
    const T* bias = start.bias == nullptr ? nullptr : start.bias + column;
    for (index_t row = 0; row < c.rows; row += tile_rows) {
      const int rows = static_cast<int>(std::min<index_t>(tile_rows, c.rows - row));
      const Rows<T> from{a.data + row * (a_is_packed ? inner : a.row_step), a.row_step, a.inner_step};
      multiply_rows<T>(rows, from, panels, inner, {&c(row, column), c.row_step, columns, start.add, bias});
    }
  }
}

/// One block of c, by one thread: all passes over the inner index.
template <class T>
void multiply_block(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, const GemmStart<T>& start,
                    T* scratch) {
  const index_t passes = parts(a.columns, inner_limit<T>), length = parts(a.columns, passes);
  T* const packed_rows = scratch + block_columns * inner_limit<T>;
  for (index_t pass = 0, k = 0; pass < passes; ++pass, k += length) {
    const index_t inner = std::max<index_t>(0, std::min(length, a.columns - k));
    const GemmStart<T> from = pass == 0 ? start : GemmStart<T>{true, nullptr};
    pack_panels<T>(block(b, k, inner, 0, b.columns), scratch);
    if (a.column_step == 1) {
      multiply_panels<T>({a.data + k, a.row_step, 1}, scratch, inner, c, from, false);
      continue;
    }
    for (index_t row = 0; row < c.rows; row += block_rows) {
      const index_t rows = std::min(block_rows, c.rows - row);
      pack_rows<T>(block(a, row, rows, k, inner), packed_rows);
      multiply_panels<T>({packed_rows, 1, tile_rows}, scratch, inner, block(c, row, rows, 0, c.columns), from, true);
    }
  }
}

}  // namespace

template <class T>
void pack_panels(const Matrix<const T>& b, T* to) {
  constexpr index_t width = panel_columns<T>;
  for (index_t first = 0; first < b.columns; first += width, to += width * b.rows) {
    const index_t columns = std::min(width, b.columns - first);
    const T* from = b.data + first * b.column_step;
    if (columns < width) std::fill_n(to, width * b.rows, T(0));
    if (b.column_step == 1 && columns == width) {
      for (index_t k = 0; k < b.rows; ++k) {
        store(to + k * width, load(from + k * b.row_step));
        store(to + k * width + width / 2, load(from + k * b.row_step + width / 2));
      }
    } else {
      for (index_t j = 0; j < columns; ++j) {
        for (index_t k = 0; k < b.rows; ++k) to[k * width + j] = from[k * b.row_step + j * b.column_step];
      }
    }
  }
}

template <class T>
void pack_panels(const Exec& exec, const Matrix<const T>& b, T* to) {
  constexpr index_t width = panel_columns<T>;
  Kokkos::parallel_for("gradcomp::nn::pack_panels", Kokkos::RangePolicy<Exec>(exec, 0, (b.columns + width - 1) / width),
                       [=](const index_t panel) {
                         const index_t first = panel * width, columns = std::min(width, b.columns - first);
                         pack_panels<T>(block(b, 0, b.rows, first, columns), to + first * b.rows);
                       });
}

template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start, T* scratch) {
  if (c.rows == 0 || c.columns == 0) return;
  // c is cut into blocks, column after column. Rows are cut only if the threads cannot share the columns evenly.
  const index_t threads = exec.concurrency(), across = parts(c.columns, block_columns);
  const index_t wide = parts(parts(c.columns, across), panel_columns<T>) * panel_columns<T>;
  const index_t tiles = parts(c.rows, tile_rows);
  index_t down = 1;
  while (down < tiles && across * down % threads != 0 && across * down < 4 * threads) ++down;
  const index_t high = parts(tiles, down) * tile_rows;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm", PerThread(exec, 0, threads, Kokkos::ChunkSize(1)), [=](const index_t thread) {
        for (index_t task = thread; task < across * down; task += threads) {
          const index_t column = task / down * wide, row = task % down * high;
          const index_t columns = std::min(wide, c.columns - column);
          const index_t rows = std::min(high, c.rows - row);
          if (columns <= 0 || rows <= 0) continue;
          const GemmStart<T> from{start.add, start.bias == nullptr ? nullptr : start.bias + column};
          multiply_block<T>(block(a, row, rows, 0, a.columns), block(b, 0, b.rows, column, columns),
                            block(c, row, rows, column, columns), from, scratch + thread * gemm_scratch<T>);
        }
      });
}

template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, T* scratch) {
  const index_t threads = exec.concurrency(), count = outer * inner, columns = c.first.columns;
  Kokkos::parallel_for(
      "gradcomp::nn::gemm_grid", PerThread(exec, 0, threads, Kokkos::ChunkSize(1)), [=](const index_t thread) {
        for (index_t i = thread * count / threads; i < (thread + 1) * count / threads; ++i) {
          const Matrix<const T> left = a.at(i / inner, i % inner), right = b.at(i / inner, i % inner);
          const Matrix<T> to = c.at(i / inner, i % inner);
          for (index_t column = 0; column < columns; column += block_columns) {
            const index_t wide = std::min(block_columns, columns - column);
            multiply_block<T>(left, block(right, 0, right.rows, column, wide), block(to, 0, to.rows, column, wide), {},
                              scratch + thread * gemm_scratch<T>);
          }
        }
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                     \
  template void pack_panels<T>(const Matrix<const T>&, T*);                                                         \
  template void pack_panels<T>(const Exec&, const Matrix<const T>&, T*);                                            \
  template void gemm<T>(const Exec&, const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&,              \
                        const GemmStart<T>&, T*);                                                                   \
  template void gemm_grid<T>(const Exec&, index_t, index_t, const MatrixGrid<const T>&, const MatrixGrid<const T>&, \
                             const MatrixGrid<T>&, T*);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
