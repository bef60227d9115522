#pragma once
// Makes the columns of many tall matrices orthonormal in one launch, by modified Gram-Schmidt. Every projection is done
// twice ("twice is enough": Kahan in Parlett, The symmetric eigenvalue problem, section 6-9). All sums are in double
// and have a fixed order.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::kernels {

/// A matrix stored column after column: column k is `rows` floats from data + offset + k rows.
struct ColumnMatrix {
  index_t offset;
  index_t rows;
  index_t columns;
};

/// If the part of a column that is orthogonal to the columns before it is smaller than this, relative to the norm of
/// the column, it is rounding noise of a float product, and the column becomes zero ("dead"): the direction of
/// normalised noise would depend on the device.
inline constexpr double dead_column = 1e-6;

/// Replaces the columns of every matrix by orthonormal ones with the same span, and dead columns by zeros. No epsilon
/// is added to a norm, because an absolute one would bias small gradients; so scaling a column does not change the
/// result. Takes 4 k passes over column k, with one warp per matrix. Columns that hold a NaN or an infinity become
/// zero.
void orthogonalise(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<float>& data);

/// Unless `lost` is set, divides every column by its norm; a column with a norm below 1e-30 becomes zero.
void normalise_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Span<const float>& in,
                       const Mark& lost, const Span<float>& out);

/// Fills zero columns with numbers that are nearly normally distributed (the sum of eight uniform 16-bit numbers, with
/// mean 0 and variance 1). Row i of column k takes draw number k of element i. The numbers depend on (seed,
/// ids(matrix), step) and are equal on all ranks; as sums of integers, they are the same on every device.
void refill_columns(const Exec& exec, const Vector<ColumnMatrix>& matrices, const Vector<index_t>& ids,
                    std::uint64_t seed, std::int64_t step, const Span<float>& data);

}  // namespace gradcomp::kernels
