#pragma once
// Eigenvalues and eigenvectors of many symmetric matrices in one launch: cyclic Jacobi rotations in double (Golub & Van
// Loan, Matrix computations, section 8.5), one warp per matrix.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// A symmetric matrix of size x size numbers, row by row from `offset` on; its eigenvalues go to `values` and behind.
struct SymmetricMatrix {
  index_t offset;
  index_t values;
  std::int32_t size;
};

/// The largest number of sweeps; about ten are usual.
inline constexpr int max_jacobi_sweeps = 30;

/// Row i of `vectors` (with the offset and size of the matrix) becomes the eigenvector of eigenvalue i; the eigenvalues
/// have no order. Overwrites `a`. Rows are orthonormal up to rounding; errors of eigenvalues are about 1e-16 of the sum
/// of their magnitudes. A sweep takes about 6 size^3 floating-point operations per matrix, so this is meant for sizes
/// of up to a few hundred. All numbers must be finite.
void jacobi_eigenvectors(const Exec& exec, const Vector<SymmetricMatrix>& matrices, const Span<double>& a,
                         const Span<double>& vectors, const Span<double>& values);

}  // namespace gradcomp::kernels
