#pragma once
// Reductions of vectors: of two, as in one hop of an allreduce, or of the terms of all ranks.
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

/// into[i] = op over t of terms[t * count + i], in the order of t = 0 .. ranks - 1. 16-bit floats are combined in f32,
/// and only the result is rounded. Throws Error for the bitwise or of floats.
void combine_terms(const Exec& exec, DType type, ReduceOp op, const void* terms, int ranks, index_t count, void* into);

}  // namespace gradcomp::kernels
