#pragma once
// Products of matrices of any size, as recurrent networks and Transformers need them. A product of our own rather than
// the BLAS of kernels/blas.hpp: it takes float and double and views with any strides, runs on all Kokkos threads, and
// gives the same bits for any number of them.
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

  Matrix transposed() const { return {data, columns, rows, column_step, row_step}; }

  KOKKOS_INLINE_FUNCTION T& operator()(index_t i, index_t j) const { return data[i * row_step + j * column_step]; }

  operator Matrix<const T>() const { return {data, rows, columns, row_step, column_step}; }
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
/// in order, in T, in parts of fixed length; where the two paths differ it is by rounding.
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmWorkspace<T>& workspace, Path path, const GemmStart<T>& start = {});

}  // namespace gradcomp::nn
