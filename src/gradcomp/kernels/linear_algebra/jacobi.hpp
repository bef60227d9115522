#pragma once
// Eigenvalues and eigenvectors of many symmetric matrices in one launch: cyclic Jacobi rotations in double (Golub & Van
// Loan, Matrix computations, section 8.5), one warp per matrix.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// A symmetric matrix of size x size numbers, row by row from `offset`; its eigenvalues go to `values` and behind.
struct SymmetricMatrix {
  index_t offset;
  index_t values;
  std::int32_t size;
};

/// Sweeps after which the rotations end in any case; some ten are usual.
inline constexpr int max_jacobi_sweeps = 30;

/// Destroys `a`. Row i of `vectors` (as long and placed as the matrix) becomes the eigenvector of eigenvalue i, in no
/// order; rows are orthonormal to rounding, eigenvalues right to some 1e-16 of their sum of magnitudes. About 3 sweeps
/// size^3 operations per sweep and matrix: meant for sizes up to some hundreds. Entries must be finite.
void jacobi_eigenvectors(const Exec& exec, const Vector<SymmetricMatrix>& matrices, const Span<double>& a,
                         const Span<double>& vectors, const Span<double>& values);

}  // namespace gradcomp::kernels
