#pragma once
// What the first pass collected of each segment, for searches of thresholds.
#include "gradcomp/kernels/select/candidates.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::kernels {

/// A small value type that kernels capture.
struct Shortlist {
  Runs runs;
  const std::int32_t* bound = nullptr;  ///< [segments]; null: nothing was collected
  const Moments* moments = nullptr;     ///< [segments]

  /// A magnitude(); negative: nothing was collected of the segment.
  KOKKOS_INLINE_FUNCTION std::int32_t low(index_t s) const {
    return bound == nullptr || bound[s] == no_bound ? -1 : bound[s];
  }
  /// Elements above low().
  KOKKOS_INLINE_FUNCTION index_t count(index_t s) const { return moments[s].candidates; }
};

}  // namespace gradcomp::kernels
