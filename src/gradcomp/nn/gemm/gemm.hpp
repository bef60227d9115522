#pragma once
// Products of matrices of any size, as recurrent networks and Transformers need them. On hosts a product of our own
// rather than the BLAS of kernels/linear_algebra/blas.hpp: it takes float and double and views with any strides, runs
// on all Kokkos threads, and gives the same bits for any number of them. On devices gemm_device.hpp, which asks that
// BLAS.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// Non-owning view: element (i, j) lies at data[i row_step + j column_step].
template <class T>
struct Matrix {
  T* data = nullptr;
  index_t rows = 0, columns = 0;
  index_t row_step = 0, column_step = 1;

  /// Row-major and contiguous.
  static Matrix dense(T* from, index_t rows, index_t columns) { return {from, rows, columns, columns, 1}; }

  KOKKOS_INLINE_FUNCTION Matrix transposed() const { return {data, columns, rows, column_step, row_step}; }

  KOKKOS_INLINE_FUNCTION T& operator()(index_t i, index_t j) const { return data[i * row_step + j * column_step]; }

  operator Matrix<const T>() const { return {data, rows, columns, row_step, column_step}; }
};

/// outer x inner matrices of equal shape at equal distances: those of the sequences and heads of an attention.
template <class T>
struct MatrixGrid {
  Matrix<T> first;
  index_t outer_step = 0, inner_step = 0;

  MatrixGrid transposed() const { return {first.transposed(), outer_step, inner_step}; }

  KOKKOS_INLINE_FUNCTION Matrix<T> at(index_t outer, index_t inner) const {
    Matrix<T> matrix = first;
    matrix.data += outer * outer_step + inner * inner_step;
    return matrix;
  }

  operator MatrixGrid<const T>() const { return {first, outer_step, inner_step}; }
};

/// Scratch of the host kernel, for each thread of its own. Allocate once.
template <class T>
struct GemmWorkspace {
  GemmWorkspace();
  Vector<T> packed;
};

/// What the sums start with.
template <class T>
struct GemmStart {
  bool add = false;         ///< what c holds: c += a b
  const T* bias = nullptr;  ///< else this row vector, one element per column; null: zeros
};

/// c = a b + start. c needs column_step 1 and must not overlap a or b. The sum of an element runs over the inner index
/// in order, in T, in parts of fixed length (that of a BLAS in its own); where the paths differ it is by rounding.
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmWorkspace<T>& workspace, Path path, const GemmStart<T>& start = {});

/// c = a b for each of outer x inner matrices; otherwise as gemm().
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
