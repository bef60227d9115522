#pragma once
// Reductions of two vectors, as in one hop of an allreduce.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// The reduction of two floats by any operation except bor. If either is NaN, the result is NaN, because a rank flags a
/// step with NaN.
KOKKOS_INLINE_FUNCTION float combine(ReduceOp op, float a, float b) {
  if (op == ReduceOp::sum) return a + b;
  if (op == ReduceOp::max) return b > a || b != b ? b : a;
  return b < a || b != b ? b : a;
}

/// into[i] = op(first[i], second[i]) for `count` elements of `type`; `into` may be `first` or `second`. 16-bit floats
/// are combined in f32 and rounded to nearest. Throws Error for the bitwise or of floats.
void combine(const Exec& exec, DType type, ReduceOp op, const void* first, const void* second, index_t count,
             void* into);

}  // namespace gradcomp::kernels
