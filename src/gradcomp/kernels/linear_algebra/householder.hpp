#pragma once
// Makes the columns of many tall matrices orthonormal in one launch, by Householder reflections (Golub & Van Loan,
// Matrix computations, section 5.2). Unlike with Gram-Schmidt, the results are orthonormal up to rounding for all
// columns.
#include "gradcomp/kernels/linear_algebra/orthogonalise.hpp"

namespace gradcomp::kernels {

inline constexpr index_t max_householder_columns = 32;

/// Replaces every matrix A, of at most 32 columns, by the thin Q of A = Q R. The diagonal of R is not negative, so that
/// Q is unique if the columns are independent. If a column depends on those before it, Q continues with an arbitrary
/// orthonormal direction, which is the same on all ranks but depends on the rounding of this device. Columns beyond the
/// number of rows become zero, and so does a matrix that holds a NaN or an infinity. Scaling a column does not change
/// the result. Takes about 4 columns^2 passes over a column, with one warp per matrix. Reflections are kept in place.
void orthogonalise_householder(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data);

}  // namespace gradcomp::kernels
