#pragma once
// The elements that the first pass collected in each segment, for searches of thresholds.
#include "gradcomp/kernels/select/candidates.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::kernels {

/// A small value type that kernels capture.
struct Shortlist {
  Runs runs;
  const std::int32_t* bound = nullptr;  ///< [segments]; null: nothing was collected
  const Moments* moments = nullptr;     ///< [segments]

  /// The bound above which elements were collected, a magnitude(); negative if nothing was collected in the segment.
  KOKKOS_INLINE_FUNCTION std::int32_t low(index_t s) const {
    return bound == nullptr || bound[s] == no_bound ? -1 : bound[s];
  }
  /// The number of elements above low().
  KOKKOS_INLINE_FUNCTION index_t count(index_t s) const { return moments[s].candidates; }
};

}  // namespace gradcomp::kernels
