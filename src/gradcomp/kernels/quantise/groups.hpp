#pragma once
// The groups of a segment, whose elements share a scale: `length` consecutive elements each, of which the last group
// may have fewer. If length = 0, the segment is one group.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// The group of an element, both counted from 0 inside the segment.
KOKKOS_INLINE_FUNCTION constexpr index_t group_of(index_t element, index_t length) {
  return length > 0 ? element / length : 0;
}

/// The number of groups of a segment.
KOKKOS_INLINE_FUNCTION constexpr index_t group_count(index_t elements, index_t length) {
  return length > 0 ? (elements + length - 1) / length : elements > 0 ? 1 : 0;
}

}  // namespace gradcomp::kernels
