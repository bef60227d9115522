#pragma once
// Orthonormal columns of many tall matrices in one launch, by Householder reflections (Golub & Van Loan, Matrix
// computations, section 5.2): unlike Gram-Schmidt, orthonormal to rounding whatever the columns are.
#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

namespace gradcomp::kernels {

inline constexpr index_t max_householder_columns = 32;

/// Replaces every matrix by the thin Q of A = Q R, the diagonal of R not negative, so that Q is unique where the
/// columns are independent; at most 32 columns. Where a column depends on those before it, Q goes on with some
/// orthonormal direction, which is the same on all ranks but follows the rounding of this device. Columns beyond the
/// number of rows become zero, and so does a matrix that holds a NaN or an infinity. Scaling a column does not change
/// the result. Some 4 columns^2 passes over a column; one warp per matrix; reflections are kept in place.
void orthogonalise_householder(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data);

}  // namespace gradcomp::kernels
