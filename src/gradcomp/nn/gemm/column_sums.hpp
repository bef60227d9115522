#pragma once
// Sums over the rows of a matrix, such as the gradient of a bias.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// Rows of one partial sum. The number is fixed, so that results do not depend on the number of threads.
inline constexpr index_t rows_per_sum = 32;

/// Elements of scratch that column_sums needs.
constexpr index_t column_sums_scratch(index_t rows, index_t columns) {
  return (rows + rows_per_sum - 1) / rows_per_sum * columns;
}

/// to[j] = sum of column j of x. Sums over rows_per_sum rows are formed in T and then added in double. scratch: at
/// least column_sums_scratch() elements.
template <class T>
void column_sums(const Exec& exec, const Matrix<const T>& x, const Span<T>& scratch, const Span<T>& to);

}  // namespace gradcomp::nn
