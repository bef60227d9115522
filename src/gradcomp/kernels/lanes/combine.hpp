#pragma once
// Reductions of two vectors, as one hop of an allreduce makes them.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// The reduction of two floats by any operation but bor; a NaN in either stays one: it is how a rank flags its step.
KOKKOS_INLINE_FUNCTION float combine(ReduceOp op, float a, float b) {
  if (op == ReduceOp::sum) return a + b;
  if (op == ReduceOp::max) return b > a || b != b ? b : a;
  return b < a || b != b ? b : a;
}

/// into[i] = op(first[i], second[i]), `count` elements of `type`; `into` may be either. 16-bit floats are combined in
/// f32 and rounded to nearest. Throws Error for the bitwise or of floats.
void combine(const Exec& exec, DType type, ReduceOp op, const void* first, const void* second, index_t count,
             void* into);

}  // namespace gradcomp::kernels
