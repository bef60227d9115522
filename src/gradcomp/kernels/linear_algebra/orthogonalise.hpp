#pragma once
// Orthonormal columns of many tall matrices in one launch: modified Gram-Schmidt, every projection done twice ("twice
// is enough": Kahan in Parlett, The symmetric eigenvalue problem, section 6-9), all sums in double and of fixed order.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// A matrix stored column after column: column k is `rows` floats from data + offset + k rows.
struct ColumnMatrix {
  index_t offset;
  index_t rows;
  index_t columns;
};

/// A column whose part orthogonal to the columns before it is smaller than this, relative to its norm, is rounding
/// noise of a float product and becomes zero ("dead"): normalised noise would be a direction that depends on the
/// device.
inline constexpr double dead_column = 1e-6;

/// Replaces the columns of every matrix by orthonormal ones of the same span; dead and zero columns by zeros. No
/// epsilon is added to a norm (an absolute one biases gradients near it), so scaling a column does not change the
/// result. 4 k passes over column k; one warp per matrix. Columns that hold a NaN or infinity become zero.
void orthogonalise(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data);

/// Divides every column by its norm; a column with a norm below 1e-30 becomes zero.
void normalise_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<const float>& in,
                       const Span<float>& out);

/// Fills zero columns with nearly normal numbers (the sum of eight 16-bit uniforms, mean 0, variance 1: integers, hence
/// the same on every device), keyed by (seed, ids(matrix), step) and equal on all ranks.
void refill_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Vector<index_t>& ids,
                    std::uint64_t seed, std::int64_t step, const Span<float>& data);

}  // namespace gradcomp::kernels
