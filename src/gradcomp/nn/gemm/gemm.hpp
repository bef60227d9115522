#pragma once
// General matrix products (GEMM) of any size, as recurrent networks and Transformers need them. Hosts use our own
// kernel instead of the BLAS of kernels/linear_algebra/blas.hpp. It takes float and double and views with any strides,
// runs on all Kokkos threads, and gives the same bits for any number of them. Devices use gemm_device.hpp, which calls
// that BLAS.
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

/// outer x inner matrices of equal shape at equal distances, such as those of the sequences and heads of an attention.
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

/// Scratch of the host kernel, a separate part for each thread. Allocate it once.
template <class T>
struct GemmWorkspace {
  GemmWorkspace();
  Vector<T> packed;
};

/// What the sums start with.
template <class T>
struct GemmStart {
  bool add = false;         ///< true: the elements of c, so that c += a b
  const T* bias = nullptr;  ///< if not `add`: this row vector, one element per column; null: zeros
};

/// c = a b + start. c needs column_step 1 and must not overlap a or b. The sum of an element is formed in T, in the
/// order of the inner index and in parts of fixed length; a BLAS has its own order. So paths differ by rounding only.
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmWorkspace<T>& workspace, Path path, const GemmStart<T>& start = {});

/// c = a b for each of the outer x inner matrices, under the rules of gemm().
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
