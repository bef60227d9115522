#pragma once
// The groups of a segment, whose elements share a scale: `length` consecutive elements each, of which the last group
// may have fewer. If length = 0, the segment is one group.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Smallest norm of a group that is not all zeros: steps are then normal numbers and have finite inverses. A norm
/// above max|a| keeps the rounding unbiased; it only adds variance.
inline constexpr float smallest_norm = 0x1p-90f;
/// Largest norm, so that levels x step does not overflow. It costs a bias of 1e-6 for norms above 3.4e38.
inline constexpr float largest_norm = 0x1.fffffp+127f;

/// If the largest magnitude is in this range, the squares can be summed in float without overflow, and those that
/// underflow do not matter.
inline constexpr float float_sum_low = 0x1p-40f, float_sum_high = 0x1p+55f;

/// The group of an element, both counted from 0 inside the segment.
KOKKOS_INLINE_FUNCTION constexpr index_t group_of(index_t element, index_t length) {
  return length > 0 ? element / length : 0;
}

/// The number of groups of a segment.
KOKKOS_INLINE_FUNCTION constexpr index_t group_count(index_t elements, index_t length) {
  return length > 0 ? (elements + length - 1) / length : elements > 0 ? 1 : 0;
}

}  // namespace gradcomp::kernels
