#pragma once
// Differences of parameters.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// difference = a - b
static inline void subtract(const Exec& exec, const Span<const float>& a, const Span<const float>& b,
                            const Span<float>& difference) {
  Kokkos::parallel_for(
      "gradcomp::strategy::subtract", IndexRange(exec, 0, static_cast<index_t>(a.size())),
      KOKKOS_LAMBDA(const index_t i) { difference(i) = a(i) - b(i); });
}

}  // namespace gradcomp
